# ruff: noqa: F403 - everything is here
"""Every definition in its most obvious form, in plain Python. Slow, and imports nothing from the package.

A table is ``Table(rows, hierarchies, numeric, sets)``: rows are dicts; ``hierarchies`` maps each quasi-identifier to
the rows of its hierarchy, ``(leaf, level 1, …, top)``, in the order of the leaves; ``numeric`` names the
quasi-identifiers whose leaves are numbers (None is a missing one) and ``sets`` the texts that were given no hierarchy.
Levels are tuples in the order of ``hierarchies``; in place of the number of a level there may be a partition, a set of
frozensets of leaves. A class is a list of row numbers; counts are dicts from sensitive value to how often it occurs. A
recoding is ``levels``, the ``published`` classes and the ``suppressed`` row numbers.

recoding:     ``classes(table, levels)``, ``released(table, name, value, level)``, ``counts(table, rows, column)``
models:       ``k_anonymous(counts, k)``, ``distinct_l(counts, l)``, ``entropy_l(counts, l)``,
              ``recursive_cl(counts, c, l)``, ``l_plus(counts, thetas)``,
              ``alpha_k(counts, alpha, k)``, ``beta_like(counts, whole, beta, enhanced)``,
              ``delta_disclosure(counts, whole, delta)``,
              ``t_close(counts, whole, t, distance, hierarchy)``; with ``thetas(whole, theta, by)`` and
              ``emd(counts, whole, distance, hierarchy)``
suppression:  ``class_records(counts, ok)``, ``largest_ok_parts(counts, ok)`` (violating-records, by trying all),
              ``lemma_3(counts, thetas)`` (violating-records under thresholds, as the paper does it),
              ``class_values(counts, ok)``, ``violating_values(counts, thetas)``, ``budget(limit, n)``;
              ``suppress(table, levels, models, kind, limit, cost, column, **options)`` does one of them to a whole
              recoding and says what that costs, where each model is a ``Model``
costs:        ``COSTS[name](table, levels, published, suppressed, **options)`` for DM, HDM, LM, CM, NCP, C_AVG,
              precision, entropy, ambiguity and score; options are ``weights``, ``node_weights``, ``penalty``, ``k``,
              ``label``, ``by`` and ``d``; ``released_certainty(table, shown, weights, node_weights)`` is NCP of what
              rows show, ``score_of(table, shown, by, d, weights)`` the score
schemes:      ``valid_partitions(scheme, hierarchy)``, ``set_partitions(items)``, ``formal_cuts(hierarchy)``
search:       ``level_vectors(table)``, ``recode(table, levels, ok)``, ``search(table, ok, cost, budget, **options)``,
              ``k_of_node(table, levels, budget)``, ``front(table, budget, cost, value, measures, **options)``,
              ``search_cuts(table, models, kind, limit, cost, column, scheme, **options)`` tries all cuts, or all
              partitions of any scheme
people:       ``crowd(table, rows, person, column)``, ``crowd_ok(text, hierarchy, whole)``, ``alike(…)``,
              ``suppress_classes(…)``, ``suppress_people(…)``, ``search_people(…)``,
              ``search_key_sets_of_people(…)``: promises that count people
tables:       ``join_tables(tables, person)``, ``whole_links(tables, person)``, where tables are lists of rows
key sets:     ``key_classes(table, levels, key_set, rows)``, ``keeps(table, levels, key_sets, rows)``,
              ``kept_rows(table, levels, key_sets, ok)``, ``search_key_sets(table, recodings, key_sets, models, kind,
              limit, cost, column, **options)`` tries all recodings it is given
queries:      ``count_query(rows, query)``, ``sum_query(rows, query, column)``
find:         ``crowd(rows, facts)`` and ``shares(rows, column)``, where each value of a row is a set of possible ones
local:        ``mdav(table, k, flat, weights)``, ``squared_error(table, groups)``; ``row_vectors(table, weights)``,
              ``sse(vectors, groups, suppressed)``, ``least_sse(vectors, ok, limit)``
published:    ``poka(nodes, depth, start)``, ``exact_nodes(table, budget, cost)`` with losses as fractions
"""

from naive.costs import *
from naive.find import *
from naive.key_sets import *
from naive.microaggregation import *
from naive.people import *
from naive.privacy import *
from naive.published import *
from naive.queries import *
from naive.recoding import *
from naive.schemes import *
from naive.searches import *
from naive.suppression import *
from naive.tables import *
