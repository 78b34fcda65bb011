{% macro dollars_to_cents(column) %}cast(round({{ column }} * 100) as bigint){% endmacro %}

{% macro count_rows(relation) %}
  {% set r = run_query("select count(*) from " ~ relation) %}
  {{ log("rows: " ~ r.columns[0].values()[0], info=True) }}
{% endmacro %}
