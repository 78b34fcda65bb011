{{ config(store_failures=true, severity='warn') }}
select * from {{ ref('stg_order_items') }} where amount < 20
