{{ config(materialized='incremental', incremental_strategy='append') }}
select order_item_id, status, source_version
from {{ ref('stg_order_items') }}
{% if is_incremental() %}
where source_version > (select max(source_version) from {{ this }})
{% endif %}
