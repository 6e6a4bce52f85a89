{# Generic tests for dbt. They return the equivalence classes that break the promise, so that a test passes with no row.

   models:
     - name: safe_visits
       tests:
         - k_anonymity: {columns: [age_group, zip3, sex], k: 5}
         - distinct_l_diversity: {columns: [age_group, zip3, sex], sensitive: diagnosis, l: 3}

   NULL in a quasi-identifier is a value like any other: GROUP BY puts equal NULLs into one group. A missing sensitive
   value is unknown, and COUNT(DISTINCT ...) leaves it out. #}

{% test k_anonymity(model, columns, k) %}
select {{ columns | join(', ') }}, count(*) as class_size
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) < {{ k }}
{% endtest %}

{% test distinct_l_diversity(model, columns, sensitive, l) %}
select {{ columns | join(', ') }}, count(distinct {{ sensitive }}) as distinct_values
from {{ model }}
group by {{ columns | join(', ') }}
having count(distinct {{ sensitive }}) < {{ l }}
{% endtest %}
