select a.total, b.total as other
from (select sum(revenue) as total from {{ ref('region_months') }}) a,
     (select sum(amount) as total from {{ ref('stg_accepted') }}) b
where a.total is distinct from b.total
