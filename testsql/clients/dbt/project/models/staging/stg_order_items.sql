select
    order_item_id,
    order_id,
    order_time,
    cast(order_time at time zone 'UTC' as date) as order_date,
    region,
    coalesce(channel, 'unknown') as channel,
    sku,
    quantity,
    amount,
    {{ dollars_to_cents('amount') }} as amount_cents,
    status,
    source_version
from {{ source('silver', 'order_item') }}
