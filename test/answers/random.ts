import fc from 'fast-check'
import { childKindsOf, KINDS, type Kind, parentKindsOf, queryPaths } from '../../src/mapping/index.ts'
import { arbitraryQuery, type Clause } from '../support/queries.ts'
import { type Drawn, some } from './drawn.ts'
import { type Named, searchOf } from './fields.ts'

const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number, seed: number): T[] =>
  fc.sample(arbitrary, { numRuns, seed })

const sortable = (kind: Kind): string[] =>
  [...queryPaths(kind).values()].filter(({ es, list }) => es !== 'text' && !list?.nested).map(({ path }) => path)

/** By every field that can be sorted by, in both orders, with missing values at either end; and by what cannot. */
export const sortRequests = (): Named[] =>
  KINDS.flatMap(kind =>
    [...queryPaths(kind).keys(), '_doc', '_score', '_id', 'nothing'].flatMap((path, i): Named[] => {
      const sorts: unknown[] = [path, { [path]: 'desc' }]
      if (!path.startsWith('_')) sorts.push({ [path]: { order: i % 2 ? 'asc' : 'desc', missing: '_first' } })
      return sorts.map((sort, n) => [
        `${kind} sorted by ${path} ${n}`,
        searchOf(kind, { sort, _source: false, size: 15, from: n * (i % 4) }),
      ])
    }),
  )

const sortOf = (kinds: readonly Kind[]): fc.Arbitrary<unknown> => {
  const names = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...kinds.flatMap(sortable)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'timestamp',
        kinds[0] === 'block' ? 'number.num' : 'blockNumber.num',
        '_doc',
        '_score',
      ),
    },
  )
  const order = fc.constantFrom('asc', 'desc')
  const key = fc
    .tuple(names, order, fc.constantFrom('_first', '_last', undefined))
    .map(([name, order, missing]) =>
      name.startsWith('_') || !missing ? { [name]: order } : { [name]: { order, missing, unmapped_type: 'long' } },
    )
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 4, arbitrary: fc.array(key, { minLength: 1, maxLength: 3 }) },
  )
}

/** Names of fields, objects, and patterns near to them. */
const patternOf = (kinds: readonly Kind[]): fc.Arbitrary<string> =>
  fc
    .constantFrom(...kinds.flatMap(kind => [...queryPaths(kind).keys()]))
    .chain(path =>
      fc.constantFrom(
        ...[path, path.split('.')[0]!, `${path.slice(0, 4)}*`, `*${path.slice(-3)}`, `${path.split('.')[0]}.*`],
        ...['*.num', '*', 'nothing', path.slice(0, -1), '*a*s*'],
      ),
    )

const sourceOf = (kinds: readonly Kind[]): fc.Arbitrary<unknown> => {
  const pattern = patternOf(kinds)
  const patterns = fc.oneof(pattern, fc.array(pattern, { maxLength: 4 }))
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom<unknown>(undefined, true) },
    { weight: 3, arbitrary: fc.constant(false) },
    { weight: 2, arbitrary: patterns },
    { weight: 4, arbitrary: fc.record({ includes: patterns, excludes: patterns }, { requiredKeys: [] }) },
  )
}

const windowOf = fc.record(
  {
    from: fc.nat(20),
    size: fc.constantFrom(0, 1, 2, 5, 5, 9),
    track_total_hits: fc.constantFrom<unknown>(true, false, 0, 1, 3, 100),
  },
  { requiredKeys: ['size'] },
)

const bodyOf = (kinds: readonly Kind[], query: fc.Arbitrary<Clause>): fc.Arbitrary<object> =>
  fc.tuple(query, sortOf(kinds), sourceOf(kinds), windowOf).map(([query, sort, _source, window]) => ({
    query,
    ...(sort !== undefined && { sort }),
    ...(_source !== undefined && { _source }),
    ...window,
  }))

/** Clauses of all sorts inside of each other, with orders, windows and filters of `_source`. */
export const randomRequests = (drawn: Drawn, count: number): Named[] =>
  KINDS.flatMap(kind =>
    sample(bodyOf([kind], arbitraryQuery(kind, some(drawn[kind], 60))), count, 21).map(
      (body, i): Named => [`${kind} random ${i}`, searchOf(kind, body)],
    ),
  )

/** Filters of `_source` over everything that is stored. */
export const sourceRequests = (count: number): Named[] =>
  KINDS.flatMap(kind =>
    sample(sourceOf([kind]), count, 22).map(
      (_source, i): Named => [`${kind} _source ${i}`, searchOf(kind, { _source, size: 3, from: i, sort: '_doc' })],
    ),
  )

/** Of a list of kinds, in any order; a clause of one of them may mean nothing to others. */
export const mixedRequests = (drawn: Drawn, count: number): Named[] => {
  const mixed = fc
    .shuffledSubarray([...KINDS], { minLength: 2 })
    .chain(kinds =>
      bodyOf(kinds, arbitraryQuery(kinds[0]!, some(drawn[kinds[0]!], 40), { depth: 1 })).map(body => ({ kinds, body })),
    )
  return sample(mixed, count, 23).map(({ kinds, body }, i) => [`mixed ${i}`, searchOf(kinds.join(','), body)])
}

const childClause = (kind: Kind, drawn: Drawn): fc.Arbitrary<Clause> =>
  fc
    .constantFrom(...childKindsOf(kind))
    .chain(type =>
      fc.record(
        {
          type: fc.constant(type),
          query: arbitraryQuery(type, some(drawn[type], 40), { depth: 1 }),
          min_children: fc.nat(4),
          max_children: fc.integer({ min: 4, max: 9 }),
        },
        { requiredKeys: ['type', 'query'] },
      ),
    )
    .map(has_child => ({ has_child }))

const parentClause = (kind: Kind, drawn: Drawn): fc.Arbitrary<Clause> =>
  fc.constantFrom(...parentKindsOf(kind)).chain(parent_type =>
    fc.oneof(
      arbitraryQuery(parent_type, some(drawn[parent_type], 40), { depth: 1 }).map(query => ({
        has_parent: { parent_type, query },
      })),
      fc
        .constantFrom('0x00', ...some(drawn[parent_type], 20).map(({ _id }) => _id))
        .map(id => ({ parent_id: { type: kind, id } })),
    ),
  )

/** Over the relations of kinds, also two of them, and beside other clauses. */
export const joinRequests = (drawn: Drawn, count: number): Named[] =>
  KINDS.flatMap(kind => {
    const clauses: fc.Arbitrary<Clause>[] = []
    if (childKindsOf(kind).length > 0) clauses.push(childClause(kind, drawn))
    if (parentKindsOf(kind).length > 0) clauses.push(parentClause(kind, drawn))
    if (kind === 'block') clauses.push(childClause('tx', drawn).map(query => ({ has_child: { type: 'tx', query } })))
    if (clauses.length === 0) return []
    const joined = fc
      .tuple(fc.oneof(...clauses), arbitraryQuery(kind, some(drawn[kind], 40), { depth: 0 }), fc.nat(4))
      .map(
        ([join, other, how]): Clause =>
          how === 0
            ? { bool: { filter: [join, other] } }
            : how === 1
              ? { bool: { should: [join, other], must_not: other } }
              : how === 2
                ? { bool: { must_not: join } }
                : join,
      )
    return sample(bodyOf([kind], joined), count, 24).map(
      (body, i): Named => [`${kind} join ${i}`, searchOf(kind, body)],
    )
  })
