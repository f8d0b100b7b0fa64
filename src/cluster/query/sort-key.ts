import { asJson } from '../../documents/show.ts'
import { type EsType, type FieldPath, KINDS, type Kind } from '../../mapping/index.ts'
import type { QueryValue } from '../../query/ast.ts'
import { standInOf } from '../../query/hits/sort-value.ts'
import type { NestedSort, SortSpec } from '../../query/request.ts'
import { unsupported } from '../deviations.ts'
import { META_FIELDS } from '../indices/names.ts'
import type { Dsl } from './dsl.ts'
import { padded } from './integers.ts'
import { compileNode, type Joins } from './node.ts'

/** One key that the cluster sorts by. */
export interface SortKey {
  dsl: Dsl
  /** A value as `search_after` takes it; null: of a hit without a value. */
  write(value: QueryValue | null): unknown
  /** A value from a hit's `sort`; undefined if the hit has none. */
  read(value: unknown): QueryValue | undefined
}

export const sortKeyOf = (sort: SortSpec, kinds: readonly Kind[], joins: Joins): SortKey => {
  const { by, order } = sort
  switch (by) {
    case '_score':
      return { dsl: { _score: order }, write: value => Number(value ?? 0), read: value => Number(value) }
    case '_doc':
      return {
        dsl: { [META_FIELDS.position]: order },
        write: value => Number(value ?? 0),
        read: value => Number(value),
      }
    case '_shard_doc':
      throw new Error('places are sorted by apart')
    case '_id':
      return idKey(order, kinds)
    case 'field':
      return fieldKey(sort, kinds, joins)
  }
}

/** Sorts by the parts of ids: sorting by `_id` would load all ids into memory. */
const idKey = (order: SortSpec['order'], kinds: readonly Kind[]): SortKey => {
  const areIn = (some: readonly Kind[]) => kinds.every(kind => some.includes(kind))
  const by = (dsl: Dsl): SortKey => ({ dsl, write: value => value, read: value => String(value) })
  const byScript = (script: object) => by({ _script: { type: 'string', order, script } })
  if (areIn(['block', 'tx'])) return by({ hash: order })
  if (areIn(['log', 'event'])) return byScript(ID_OF_LOG)
  if (areIn(['contract', 'token'])) return byScript(LOWER_ADDRESS)
  throw unsupported(
    'sort by _id',
    'sort by _doc, the order of the chain. Ids can be sorted by in searches of block and tx, of log and event, and of contract and token',
  )
}

const LOWER_ADDRESS = { lang: 'painless', source: "doc['address.raw'].value.toLowerCase()" }

const ID_OF_LOG = {
  lang: 'painless',
  source: `doc['transactionHash'].value + (doc['${META_FIELDS.kind}'].value == params.log ? '_l_' : '_e_') + doc['logIndex.num'].value`,
  params: { log: KINDS.indexOf('log') },
}

const fieldKey = (sort: SortSpec, kinds: readonly Kind[], joins: Joins): SortKey => {
  const { fields, order, missing, mode, nested, as } = sort
  const [field, ...others] = Object.values(fields) as [FieldPath, ...FieldPath[]]
  const name = cellOf(field)
  if (others.some(other => other.es !== field.es || cellOf(other) !== name))
    throw unsupported(`sort by ${field.path} of several kinds`, 'its types differ between them: search one of them')
  const isWide = field.compare === 'integer'
  const write = (value: QueryValue) => (isWide ? padded(value as bigint) : sortValue(value))
  const standIn = standInOf(sort)
  return {
    dsl: {
      [name]: {
        order,
        missing: typeof missing === 'string' ? missing : write(missing.value),
        unmapped_type: UNMAPPED[field.es],
        ...(mode && { mode }),
        ...(as && { numeric_type: as }),
        ...(nested && { nested: nestedOf(nested, kinds, joins) }),
      },
    },
    write: value => (value !== null ? write(value) : isWide ? null : missingOf(as ?? field.es, standIn)),
    read(value) {
      if (value === null || value === undefined) return undefined
      if (isWide) return BigInt(value as string)
      return readAs(as ?? field.es, value, standIn)
    },
  }
}

const UNMAPPED: Record<FieldPath['es'], string> = {
  keyword: 'keyword',
  text: 'keyword',
  long: 'long',
  double: 'double',
  boolean: 'boolean',
  date: 'date',
}

/** Field that values are sorted and grouped by. */
export const cellOf = (field: FieldPath): string => {
  if (field.kind === 'flattened')
    throw unsupported(field.path, 'members that are no fields of their own are not indexed there')
  if (field.compare !== 'integer') return field.path
  if (field.kind === 'wide' || field.kind === 'amount') return `${field.field}.padded`
  throw unsupported(
    `order by ${field.path}`,
    `use [${field.path.replace(/\.dec$/, '.num')}], which holds what fits 64 bits`,
  )
}

const sortValue = (value: QueryValue | null): unknown => {
  if (typeof value === 'bigint') return asJson(value)
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** Sort value of a missing value in the cluster. */
const missingOf = (type: EsType | 'date_nanos', standIn: ReturnType<typeof standInOf>): unknown => {
  if (standIn === null || standIn === undefined) return null
  if (type === 'boolean') return standIn > 0 ? GREATEST_INT : -GREATEST_INT - 1
  return sortValue(standIn)
}
/** Booleans are sorted as 32-bit integers. */
const GREATEST_INT = 2 ** 31 - 1

const readAs = (
  type: EsType | 'date_nanos',
  value: unknown,
  standIn: ReturnType<typeof standInOf>,
): QueryValue | undefined => {
  switch (type) {
    case 'long':
    case 'date_nanos': {
      const integer = BigInt(value as number | bigint | string)
      return integer === standIn ? undefined : integer
    }
    case 'date': {
      const integer = BigInt(value as number | bigint | string)
      return integer === standIn ? undefined : Number(integer)
    }
    case 'boolean':
      return value === 0 || value === 1 ? value === 1 : undefined
    case 'double': {
      const number = Number(value)
      return number === standIn ? undefined : number
    }
    default:
      return String(value)
  }
}

const nestedOf = ({ path, filter, most }: NestedSort, kinds: readonly Kind[], joins: Joins): Dsl => {
  const filters = KINDS.flatMap(kind => (filter[kind] ? [compileNode(filter[kind], kind, joins)] : []))
  const [first, ...others] = filters.map(one => JSON.stringify(one))
  if (others.some(other => other !== first) || filters.length < kinds.length)
    throw unsupported(`sort by [${path}] of several kinds`, 'search one kind that has it')
  return { path, filter: filters[0]!, ...(Number.isFinite(most) && { max_children: most }) }
}
