{{ config(materialized='incremental', incremental_strategy='microbatch', unique_key='order_item_id', event_time='order_time', batch_size='month', begin='2026-03-01', lookback=1) }}
select order_item_id, order_time, region, amount, status
from {{ ref('stg_order_items') }}
