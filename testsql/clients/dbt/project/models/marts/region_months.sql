select
    i.region,
    cast(date_trunc('month', i.order_date) as date) as order_month,
    count(*) as items,
    cast(sum(i.amount) as numeric(20, 2)) as revenue,
    cast(sum(i.amount * (1 - coalesce(r.tax_rate, 0))) as numeric(20, 2)) as revenue_net
from {{ ref('stg_accepted') }} i
left join {{ ref('regions') }} r on r.region = i.region
group by 1, 2
