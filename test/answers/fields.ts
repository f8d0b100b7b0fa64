import { type FieldPath, KINDS, type Kind, queryPaths } from '../../src/mapping/index.ts'
import type { QueryValue } from '../../src/query/ast.ts'
import { stringifyLossless } from '../support/scenarios.ts'
import type { Ask } from './ask.ts'
import { type Drawn, valuesIn } from './drawn.ts'

type Clause = Record<string, unknown>
export type Named = [name: string, ask: Ask]

export const searchOf = (entities: string, body: unknown): Ask => ({
  op: 'search',
  entities,
  body: stringifyLossless(body),
})

/** Every clause on every field of every kind, in each form that the field's encoding has; also those that it refuses. */
export const fieldRequests = (drawn: Drawn): Named[] =>
  KINDS.flatMap(kind => namesOf(kind).flatMap(([name, field]) => onField(kind, name, field, drawn)))

/** Paths, and the names that older clients give them. */
const namesOf = (kind: Kind): [string, FieldPath][] =>
  [...queryPaths(kind)].flatMap(([path, field]): [string, FieldPath][] => {
    const older =
      field.encoding === 'coin' ? [`${field.field}.eth`] : field.encoding === 'raw' ? [`${field.field}.keyword`] : []
    return [path, ...older].map(name => [name, field])
  })

const onField = (kind: Kind, name: string, field: FieldPath, drawn: Drawn): Named[] => {
  const values = valuesIn(drawn[kind], field, 3)
  const clauses = [...common(name, values), ...BY_COMPARISON[field.compare](name, values)]
  const list = field.list?.nested ? field.list.name : undefined
  const inSight = (query: Clause) => (list === undefined ? query : { nested: { path: list, query } })
  return [
    ...clauses.map(
      (clause, i): Named => [
        `${kind} ${name} ${Object.keys(clause)[0]} ${i}`,
        searchOf(kind, { query: inSight(clause), _source: i % 8 === 1, size: i % 8 === 1 ? 2 : 10 }),
      ],
    ),
    [
      `${kind} ${name} not`,
      searchOf(kind, { query: { bool: { must_not: inSight({ exists: { field: name } }) } }, size: 3 }),
    ],
    [`${kind} ${name} all kinds`, searchOf(KINDS.join(','), { query: inSight(clauses.at(-1)!), _source: false })],
    ...(list === undefined ? [] : [[`${kind} ${name} out of sight`, searchOf(kind, { query: clauses[0] })] as Named]),
  ]
}

const plain = (value: QueryValue | undefined) => (typeof value === 'bigint' ? Number(value) : value)

const common = (name: string, values: readonly QueryValue[]): Clause[] => {
  const [first, second = first, last = second] = values
  return [
    { exists: { field: name } },
    ...values.map(value => ({ term: { [name]: value } })),
    { term: { [name]: { value: last ?? 0, boost: 2 } } },
    { terms: { [name]: [...values, 'none', 1] } },
    { terms: { [name]: values } },
    { match: { [name]: first ?? 1 } },
    ...(first === undefined
      ? []
      : [
          { range: { [name]: { gte: first, lte: second } } },
          { range: { [name]: { gt: first } } },
          { range: { [name]: { lt: last } } },
          { range: { [name]: { gt: second, lt: second } } },
        ]),
    { range: { [name]: {} } },
    { prefix: { [name]: '0x' } },
    { term: { [name]: null } },
    { term: { [name]: { value: plain(first) ?? 1, case_insensitive: true } } },
  ]
}

const ofText = (name: string, values: readonly QueryValue[]): Clause[] => {
  const text = String(values.at(-1) ?? '0xAB')
  return [
    { term: { [name]: text.toUpperCase() } },
    { term: { [name]: text.toLowerCase() } },
    { term: { [name]: { value: text.toUpperCase(), case_insensitive: true } } },
    { prefix: { [name]: text.slice(0, 5) } },
    { prefix: { [name]: { value: text.slice(0, 7).toUpperCase(), case_insensitive: true } } },
    { prefix: { [name]: '' } },
    { match: { [name]: { query: `${text} other`, operator: 'and' } } },
    { match: { [name]: { query: text.slice(1), fuzziness: 'AUTO' } } },
    { range: { [name]: { gte: text.slice(0, 4), lt: 'zz' } } },
    { term: { [name]: 7 } },
  ]
}

const ofNumber = (name: string, values: readonly QueryValue[]): Clause[] => {
  const value = values.at(-1) ?? 1n
  return [
    { term: { [name]: String(value) } },
    { term: { [name]: `${value}.0` } },
    { term: { [name]: '0x1' } },
    { term: { [name]: 'abc' } },
    { terms: { [name]: [0, '1', 2.5, -1] } },
    { range: { [name]: { gte: -1.5, lt: 1e18 } } },
    { range: { [name]: { gt: '9223372036854775807' } } },
    { range: { [name]: { gte: 18446744073709551616n } } },
    { range: { [name]: { gte: 1, gt: 2 } } },
    { match: { [name]: { query: 1, fuzziness: 1 } } },
  ]
}

const ofDate = (name: string, values: readonly QueryValue[]): Clause[] => {
  const instant = Number(values[0] ?? 1_700_000_000_000)
  const iso = new Date(instant).toISOString()
  return [
    { term: { [name]: iso.slice(0, 19) } },
    { term: { [name]: iso.slice(0, 10) } },
    { term: { [name]: instant / 1000 } },
    { terms: { [name]: [instant, iso, '2020'] } },
    { range: { [name]: { gte: `${iso.slice(0, 10)}||/M`, lt: 'now' } } },
    { range: { [name]: { gte: 'now-2y/d', lte: 'now/d', time_zone: '+02:00' } } },
    { range: { [name]: { gte: iso.slice(0, 16), lte: `${iso.slice(0, 19)}||+1m`, time_zone: 'America/New_York' } } },
    { range: { [name]: { gte: '2023', lte: '2024', format: 'yyyy' } } },
    { range: { [name]: { gte: String(instant), format: 'epoch_millis' } } },
    { range: { [name]: { gte: 'yesterday' } } },
    { range: { [name]: { gte: 'now', time_zone: 'Mars/Olympus' } } },
  ]
}

const BY_COMPARISON: Record<FieldPath['compare'], (name: string, values: readonly QueryValue[]) => Clause[]> = {
  hex: ofText,
  exact: ofText,
  token: ofText,
  long: ofNumber,
  integer: ofNumber,
  double: ofNumber,
  boolean: name => [
    { term: { [name]: 'false' } },
    { term: { [name]: true } },
    { term: { [name]: 'yes' } },
    { terms: { [name]: [true, false] } },
    { range: { [name]: { gte: false, lt: true } } },
  ],
  instant: ofDate,
}
