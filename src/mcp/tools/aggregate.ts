import { refuse } from '../../lib/errors.ts'
import { type Kind, lookup } from '../../mapping/index.ts'
import { searchIn } from '../ask.ts'
import { fittingRows } from '../fit.ts'
import { CHAIN_TEXT, GWEI, showText } from '../show.ts'
import { resolveTokens } from '../tokens.ts'
import {
  agentTool,
  comparablePath,
  countUpTo,
  isCoinAmount,
  networkInput,
  optionalInput,
  queryInput,
  sameEntity,
  textInput,
  textList,
  toClause,
} from './tool.ts'

const MAX_GROUPS = 100
const DEFAULT_GROUPS = 10

export const aggregateTool = agentTool(
  'aggregate',
  `Groups and computes. by: a field, "args.<name>" of events and calls, or "timestamp" with interval (minute hour day week month). metrics: "<op>:<field>", op sum avg min max cardinality; sorted by the first one, or by count. Of token amounts, "args.value" is in whole tokens. Examples:
entity tx, by "from", metrics ["sum:gasUsed"]: who used most gas
entity event, query as in search, by "args.to", metrics ["sum:args.value"]: who received most DUSD
Without by: one row over everything.`,
  {
    scope: 'search',
    input: {
      network: networkInput,
      entity: sameEntity,
      query: optionalInput(queryInput),
      by: optionalInput(textInput),
      metrics: optionalInput(textList),
      interval: optionalInput(textInput),
      top: optionalInput(countUpTo(MAX_GROUPS)),
    },
    output: { columns: 'array', rows: 'array', documents: 'string', truncated: 'boolean' },
    async run({ network, entity, query, by, metrics = [], interval, top = DEFAULT_GROUPS }, session) {
      const { value: clause, resolved } = await resolveTokens(session, network, toClause(query))
      const computed = metrics.map(metric => readMetric(entity, metric))
      const group = by === undefined ? undefined : groupingBy(entity, by, { interval, top, computed })
      const { total, aggregations } = await searchIn(session, network, entity, {
        ...{ query: clause, size: 0 },
        aggs: group ? group.aggs : namedMetrics(computed, false),
      })
      const rows = (group ? group.bucketsIn(aggregations) : [{ ...aggregations, doc_count: total }])
        .slice(0, group?.isTime ? MAX_GROUPS : top)
        .map(bucket => [
          ...(group ? [group.showKey(bucket)] : []),
          String(bucket.doc_count),
          ...computed.map((metric, i) => {
            const number = metricIn(bucket[`m${i}`], metric.path)
            return number === null ? null : metric.show(number, session.currencyOf(network))
          }),
        ])
      const columns = [...(by === undefined ? [] : [by]), 'count', ...metrics]
      const left = group?.left(aggregations) ?? 0
      const answerWith = (kept: readonly (readonly unknown[])[]) => ({
        ...{ columns, rows: kept, documents: total },
        ...(Object.keys(resolved).length > 0 && { resolved }),
        ...((left > 0 || kept.length < rows.length) && {
          truncated: true,
          next: 'These are the first groups: raise top (up to 100), or narrow the query.',
        }),
        note: CHAIN_TEXT,
      })
      return answerWith(fittingRows(rows, answerWith))
    },
  },
)

interface ComputedMetric {
  /** Names of aggregations inside, down to the value. */
  path: readonly string[]
  /** With the unit of the field. */
  show(number: string, currency: string): string
  /** `isNested`: within an element of `args`. */
  aggs(isNested: boolean): object
}

const OPERATIONS = ['sum', 'avg', 'min', 'max', 'cardinality']

const readMetric = (entity: Kind, metric: string): ComputedMetric => {
  const [, operation = '', field = ''] = /^(\w+):([\w.]+)$/.exec(metric) ?? []
  if (!OPERATIONS.includes(operation))
    throw refuse('bad_metric', `metrics: write "sum:gasUsed", with one of ${OPERATIONS.join(', ')}.`)
  const argument = nameOfArgument(entity, field)
  if (argument === undefined) {
    const { path, show } = computedField(entity, field, operation)
    const own = { [operation]: { field: path, ...(!path.endsWith('.coin') && EXACT_SUMS[operation]) } }
    return { path: [], show, aggs: isNested => (isNested ? { reverse_nested: {}, aggs: { v: own } } : own) }
  }
  const form = operation === 'cardinality' ? 'hex' : 'scaled'
  const inside = nestedArgument(argument, { [operation]: { field: `args.value.${form}` } })
  return {
    path: ['f', 'v'],
    show: withoutUnit,
    aggs: isNested => (isNested ? { reverse_nested: {}, aggs: { r: inside } } : inside),
  }
}

const withoutUnit = (number: string) => number

/** Amounts are computed in whole coins, and prices of gas shown in gwei. */
const computedField = (
  entity: Kind,
  field: string,
  operation: string,
): { path: string; show: ComputedMetric['show'] } => {
  if (operation === 'cardinality') return { path: comparablePath(entity, field), show: withoutUnit }
  const base = field.replace(/\.(?:num|raw|dec|coin)$/, '')
  if (isCoinAmount(entity, base)) return { path: `${base}.coin`, show: (number, currency) => `${number} ${currency}` }
  const show: ComputedMetric['show'] = GWEI.has(base)
    ? number => `${plainNumber(String(Number(number) / 1e9))} gwei`
    : withoutUnit
  return { path: comparablePath(entity, field), show }
}

/** Sums of integers are exact. */
const EXACT_SUMS: Readonly<Record<string, object>> = { sum: { exact: true } }

/** The name of an argument; undefined for fields. */
const nameOfArgument = (entity: Kind, field: string): string | undefined =>
  field.startsWith('args.') && !lookup(entity, field) ? field.slice('args.'.length) : undefined

const nestedArgument = (name: string, v: object) => ({
  nested: { path: 'args' },
  aggs: { f: { filter: { term: { 'args.name': name } }, aggs: { v } } },
})

const namedMetrics = (computed: readonly ComputedMetric[], isNested: boolean): object =>
  Object.fromEntries(computed.map((metric, i) => [`m${i}`, metric.aggs(isNested)]))

type FoundBucket = Record<string, unknown>

const groupingBy = (
  entity: Kind,
  by: string,
  { interval, top, computed }: { interval: string | undefined; top: number; computed: readonly ComputedMetric[] },
) => {
  const argument = nameOfArgument(entity, by)
  const isNested = argument !== undefined
  const aggs = namedMetrics(computed, isNested)
  const isTime = by === 'timestamp'
  const order = computed.length > 0 ? `${orderPath(computed[0]!, isNested)}` : '_count'
  const grouped = isTime
    ? { date_histogram: { field: by, calendar_interval: interval ?? 'day', min_doc_count: 1 }, aggs }
    : {
        terms: {
          field: isNested ? 'args.value.hex' : comparablePath(entity, by),
          ...{ size: top, order: { [order]: 'desc' } },
        },
        aggs,
      }
  const bucketsAt = (found: FoundBucket): FoundBucket =>
    (isNested ? ((found.by as FoundBucket).f as FoundBucket).v : found.by) as FoundBucket
  return {
    aggs: { by: isNested ? nestedArgument(argument, grouped) : grouped },
    isTime,
    showKey: ({ key, key_as_string: text }: FoundBucket) =>
      isTime ? new Date(Number(key)).toISOString() : showText(String(text ?? key)),
    bucketsIn: (found: FoundBucket) => bucketsAt(found).buckets as FoundBucket[],
    left: (found: FoundBucket) => Number(bucketsAt(found).sum_other_doc_count ?? 0),
  }
}

const orderPath = ({ path }: ComputedMetric, isNested: boolean): string =>
  ['m0', ...(isNested ? [path.length > 0 ? 'r' : 'v'] : []), ...path].join('>')

/** The value of a metric, wherever it lies. */
const metricIn = (found: unknown, path: readonly string[]): string | null => {
  let value = found as FoundBucket
  if (value.r !== undefined) value = value.r as FoundBucket
  for (const name of path) value = value[name] as FoundBucket
  if (value.v !== undefined) value = value.v as FoundBucket
  const { exact_value: exact, value: double } = value
  return exact == null ? (double == null ? null : plainNumber(String(double))) : String(exact)
}

/** Without an exponent, where all digits are known. */
const plainNumber = (text: string): string => {
  const value = Number(text)
  return Math.abs(value) < 1e21 && /e/i.test(text)
    ? value.toLocaleString('en-US', PLAIN_FORMAT)
    : text.replace(/\.0$/, '')
}

const PLAIN_FORMAT: Intl.NumberFormatOptions = { useGrouping: false, maximumFractionDigits: 18 }
