{{ config(materialized='incremental', unique_key=['region', 'order_date'], incremental_strategy='delete+insert') }}
select region, order_date, count(*) as items, sum(amount) as amount
from {{ ref('stg_order_items') }}
{% if is_incremental() %}
where order_date >= (select max(order_date) - 7 from {{ this }})
{% endif %}
group by region, order_date
