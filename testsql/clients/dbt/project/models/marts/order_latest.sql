{{ config(materialized='incremental', unique_key='order_item_id', incremental_strategy='merge', on_schema_change='append_new_columns') }}
select order_item_id, order_id, order_time, region, amount, status, source_version
    {% if var('with_channel', false) %}, channel{% endif %}
from {{ ref('stg_order_items') }}
{% if is_incremental() %}
where source_version > (select coalesce(max(source_version), 0) from {{ this }})
{% endif %}
