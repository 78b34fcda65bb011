{{ config(materialized='ephemeral') }}
select * from {{ ref('stg_order_items') }} where status = 'accepted'
