{# Generic tests for dbt. They return the equivalence classes that break the promise, so that a test passes with no row.

   models:
     - name: safe_visits
       data_tests:
         - k_anonymity:
             arguments: {columns: [age_group, zip3, sex], k: 5}
         - distinct_l_diversity:
             arguments: {columns: [age_group, zip3, sex], sensitive: diagnosis, l: 3}

   dbt before 1.10.5 takes the arguments directly below the name of the test, without the key arguments.

   With person: patient_id, k counts people instead of rows; a row without a person counts for nobody.
   NULL in a quasi-identifier is a value like any other: GROUP BY puts equal NULLs into one group. A missing sensitive
   value is unknown, and COUNT(DISTINCT ...) leaves it out. #}

{% test k_anonymity(model, columns, k, person=none) %}
{%- set size = 'count(distinct ' ~ person ~ ')' if person else 'count(*)' %}
select {{ columns | join(', ') }}, {{ size }} as class_size
from {{ model }}
group by {{ columns | join(', ') }}
having {{ size }} < {{ k }}
{% endtest %}

{% test distinct_l_diversity(model, columns, sensitive, l) %}
select {{ columns | join(', ') }}, count(distinct {{ sensitive }}) as distinct_values
from {{ model }}
group by {{ columns | join(', ') }}
having count(distinct {{ sensitive }}) < {{ l }}
{% endtest %}
