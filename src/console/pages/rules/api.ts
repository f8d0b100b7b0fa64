import { ApiError, callApi, callApiForText, searchDocuments } from '../../api/client.ts'
import { isJsonObject, type Json, type JsonObject, listAt, member, parseJson, textAt, valueAt } from '../../api/json.ts'
import { askSuggestions, pauseForTyping } from '../../api/suggest.ts'
import type {
  Alert,
  AlertSeries,
  Delivery,
  Kind,
  PreviewAnswer,
  Rule,
  Simulation,
  TestResultAnswer,
} from '../../api/wire.ts'
import { announce, announced } from '../../parts/announce.ts'
import type { Choice } from '../../parts/combobox.tsx'
import { confirm } from '../../parts/controls.tsx'
import { countText, shortHex } from '../../parts/format.ts'
import { isWholeAddress, type RuleFault } from './model.ts'

const RULES = 'alerting/rules'

type Query = Record<string, string | undefined>

/** Query string of parameters without empty ones. */
const get = <T>(path: string, parameters: Query, signal?: AbortSignal) => {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return callApi<T>(`${path}?${new URLSearchParams(given)}`, { signal })
}

export const listRulePage = (after: string | undefined, signal: AbortSignal) =>
  get<{ rules: Rule[]; next: string | null }>(RULES, { size: '1000', after }, signal)

/** A rule with its ETag for changes. */
export interface Tagged {
  rule: Rule
  etag: string
}

const tagged = async (asked: ReturnType<typeof callApiForText>): Promise<Tagged> => {
  const { text, headers } = await asked
  return { rule: parseJson(text) as Rule, etag: headers.get('etag') ?? '*' }
}

export const getRule = (id: string, signal?: AbortSignal) =>
  tagged(callApiForText(`${RULES}/${encodeURIComponent(id)}`, { signal }))

export const createRule = (body: JsonObject) => tagged(callApiForText(RULES, { body }))

/** The body is the whole rule. */
export const replaceRule = (id: number, body: JsonObject, etag: string) =>
  tagged(callApiForText(`${RULES}/${id}?replace=true`, { method: 'PUT', body, headers: { 'if-match': etag } }))

/** Returns the number of cancelled deliveries. */
export const enableRule = (id: number, enabled: boolean, etag: string) =>
  callApi<Rule>(`${RULES}/${id}`, { method: 'PUT', body: { enabled }, headers: { 'if-match': etag } })

/** Cancelled deliveries; undefined if unknown. */
export const deleteRule = async (id: number, etag: string): Promise<string | undefined> => {
  const { headers } = await callApiForText(`${RULES}/${id}`, { method: 'DELETE', headers: { 'if-match': etag } })
  return headers.get('cancelled-deliveries') ?? undefined
}

export const simulateRule = (body: JsonObject, signal: AbortSignal) =>
  callApi<Simulation>(`${RULES}/simulate`, { body, signal })
export const previewTest = (body: JsonObject) => callApi<PreviewAnswer>(`${RULES}/test`, { body })
export const sendRuleTest = (id: number) => callApi<TestResultAnswer>(`${RULES}/${id}/test`, { body: {} })

/** By default a day in half hours. */
export const getSeries = (query: Query, signal: AbortSignal) => get<AlertSeries>('alerting/series', query, signal)

export const getAlerts = (id: number, query: Query, signal: AbortSignal) =>
  get<{ alerts: Alert[]; next: string | null }>(`${RULES}/${id}/alerts`, { size: '100', ...query }, signal)

export const getDeliveries = (query: Query, signal?: AbortSignal) =>
  get<{ deliveries: Delivery[]; next: string | null }>('alerting/deliveries', query, signal)

/** Redelivers after a confirmation, as sending cannot be undone. */
export const confirmRedelivery = async (
  which: { delivery: number } | { rule: number; dead: true } | { channel: string; target: string; dead: true },
  question: Parameters<typeof confirm>[0],
): Promise<boolean> => {
  if (!(await confirm(question))) return false
  await announced(async () => {
    const { redelivered } = await callApi<{ redelivered: number }>('alerting/deliveries/redeliver', { body: which })
    announce(
      redelivered === 0
        ? 'There is nothing to send again: it has been sent, or a retraction replaced it.'
        : `Sending ${countText(redelivered, 'delivery', 'deliveries')} again.`,
    )
  })
  return true
}

/** Faults of a refused rule; empty for other errors. */
export const faultsOf = (error: unknown): RuleFault[] =>
  listAt(error instanceof ApiError ? error.body : undefined, 'faults')
    .filter(isJsonObject)
    .map(fault => ({ path: textAt(fault, 'path') ?? '', message: textAt(fault, 'message') ?? '' }))

export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 412

export interface Attribute {
  name: string
  /** Mapping type such as `long`; undefined for encoded integers. */
  type?: string
  meaning: string
  /** Field for counting values; empty if they are not stored. */
  field: string
}

/** Attribute names from the mapping with meanings from the API description. */
export const getAttributes = async (network: string, kind: Kind, signal: AbortSignal): Promise<Attribute[]> => {
  const [mapping, api] = await Promise.all([
    callApi<JsonObject>(`${network}/es/${kind}/_mapping`, { signal }),
    callApi('openapi.json', { signal }),
  ])
  const properties = valueAt(Object.values(mapping)[0], 'mappings.properties')
  const source = `${kind[0]!.toUpperCase()}${kind.slice(1)}Source`
  return namesIn(properties, valueAt(api, `components.schemas.${source}.properties`), '')
}

const namesIn = (properties: Json | undefined, meanings: Json | undefined, before: string): Attribute[] => {
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([own, field]): Attribute[] => {
    const name = `${before}${own}`
    const described = member(meanings, own)
    const meaning = textAt(described, 'description') ?? ''
    const type = textAt(field, 'type')
    if (type === 'nested') return name === 'args' ? [{ name, meaning: 'An argument by its name', field: name }] : []
    const inner = member(field, 'properties')
    if (inner === undefined) {
      const raw = valueAt(field, 'fields.raw') === undefined ? name : `${name}.raw`
      return [{ name, ...(type !== undefined && { type }), meaning, field: raw }]
    }
    const whole = member(inner, 'dec') === undefined ? [] : [{ name, meaning, field: `${name}.num` }]
    const below = valueAt(described, 'properties') ?? valueAt(described, 'items.properties')
    return [...whole, ...namesIn(inner, below, `${name}.`)]
  })
}

/** Operators for a type of the mapping or of Solidity; all for unknown ones. */
export const attributeOperators = (type: string | undefined, all: readonly string[]): readonly string[] => {
  if (/^bool/.test(type ?? '')) return all.filter(it => it === 'Equals')
  return /^(keyword|text|address|string|bytes)/.test(type ?? '') ? all.filter(it => it.startsWith('Equals')) : all
}

const COUNTED = ['keyword', 'text', 'boolean']

/** Of a field, its most frequent values; for a text, the tokens and contracts of that name. */
export const suggestValues = async (
  network: string,
  kind: Kind,
  of: Attribute | string | undefined,
  signal: AbortSignal,
): Promise<Choice[]> => {
  if (typeof of === 'string') return suggestAddresses(network, of, signal)
  if (of?.type === undefined || of.field === '' || !COUNTED.includes(of.type)) return []
  const body = { size: 0, timeout: '2s', aggs: { values: { terms: { field: of.field, size: 20 } } } }
  const answer = await searchDocuments(network, [kind], body, signal)
  return listAt(answer.aggregations, 'values.buckets').map(bucket => ({
    value: textAt(bucket, 'key_as_string') ?? String(member(bucket, 'key')),
  }))
}

const suggestAddresses = async (network: string, text: string, signal: AbortSignal): Promise<Choice[]> => {
  if (text.length < 2) {
    const body = { size: 20, query: { exists: { field: 'symbol' } }, _source: ['symbol', 'name', 'address'] }
    const { hits } = await searchDocuments(network, ['token'], body, signal)
    return hits.hits.map(({ _id, _source }) =>
      addressChoice(textAt(_source, 'address') ?? _id, textAt(_source, 'symbol') ?? '', textAt(_source, 'name')),
    )
  }
  await pauseForTyping(signal)
  const found = await askSuggestions(network, text, signal)
  const choices = found.flatMap(it => (it.address === undefined ? [] : [addressChoice(it.address, it.text, it.kind)]))
  return choices.filter(({ value }, i) => choices.findIndex(it => it.value === value) === i)
}

const addressChoice = (value: string, name: string, kind: string | undefined): Choice => ({
  ...{ value, title: `${name} ${shortHex(value)}`, kind },
})

export interface DeclaredArgument {
  name: string
  /** Solidity type such as `uint256`. */
  type: string
  /** Whether it has values in units of a token. */
  isScaled: boolean
}

/** Decoded arguments of entities that meet the plain conditions. */
export const getArguments = async (
  network: string,
  kind: Kind,
  conditions: readonly Json[],
  signal: AbortSignal,
): Promise<DeclaredArgument[]> => {
  const filter = conditions.flatMap(condition => {
    const [name, value] = [textAt(condition, 'name') ?? '', member(condition, 'value')]
    const field = NARROWING.get(name)
    if (field === undefined || !String(textAt(condition, 'operator')).startsWith('Equals')) return []
    const values = (Array.isArray(value) ? value : [value]).filter(it => typeof it === 'string' && it !== '')
    if (values.length === 0) return []
    if (field !== 'address' && field !== 'to') return [{ terms: { [field]: values } }]
    // A name that is being typed narrows nothing.
    const addresses = values.map(it => String(it).toLowerCase()).filter(isWholeAddress)
    return addresses.length === 0 ? [] : [{ terms: { [field]: addresses } }]
  })
  const inner = {
    types: { terms: { field: 'args.value.type', size: 1 } },
    scaled: { value_count: { field: 'args.value.scaled' } },
  }
  const names = { names: { terms: { field: 'args.name', size: 50 }, aggs: inner } }
  const aggs = { args: { nested: { path: 'args' }, aggs: names } }
  const answer = await searchDocuments(
    network,
    [kind],
    { size: 0, timeout: '2s', query: { bool: { filter } }, aggs },
    signal,
  )
  return listAt(answer.aggregations, 'args.names.buckets').map(bucket => ({
    name: textAt(bucket, 'key') ?? '',
    type: textAt(listAt(bucket, 'types.buckets')[0], 'key') ?? '',
    isScaled: Number(valueAt(bucket, 'scaled.value') ?? 0) > 0,
  }))
}

const NARROWING: ReadonlyMap<string, string> = new Map([
  ['event', 'event.raw'],
  ['event.raw', 'event.raw'],
  ['address', 'address'],
  ['method', 'method.raw'],
  ['to', 'to'],
])
