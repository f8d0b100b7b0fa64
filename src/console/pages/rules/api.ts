import { ApiError, ask, askText } from '../../api/client.ts'
import { at, isObject, type Json, type JsonObject, parseJson, textAt } from '../../api/json.ts'
import type {
  Alert,
  AlertSeries,
  AlertState,
  Delivery,
  PreviewAnswer,
  Rule,
  RuleFault,
  Simulation,
  TestAnswer,
} from './wire.ts'

const RULES = 'alerting/rules'

export const listRules = (after: string | undefined, signal: AbortSignal) =>
  ask<{ rules: Rule[]; next: string | null }>(`${RULES}?${queryOf({ size: '1000', after })}`, { signal })

/** A rule with its ETag, which a change to it has to name. */
export interface Tagged {
  rule: Rule
  etag: string
}

const tagged = ({ text, headers }: { text: string; headers: Headers }): Tagged => ({
  rule: parseJson(text) as Rule,
  etag: headers.get('etag') ?? '*',
})

export const getRule = async (id: string, signal?: AbortSignal): Promise<Tagged> =>
  tagged(await askText(`${RULES}/${encodeURIComponent(id)}`, signal ? { signal } : {}))

export const createRule = async (body: JsonObject): Promise<Tagged> => tagged(await askText(RULES, { body }))

/** The body is all of the rule. */
export const replaceRule = async (id: number, body: JsonObject, etag: string): Promise<Tagged> =>
  tagged(await askText(`${RULES}/${id}?replace=true`, { method: 'PUT', body, headers: { 'if-match': etag } }))

/** The answer counts the deliveries that a pause cancelled. */
export const enableRule = (id: number, enabled: boolean, etag: string) =>
  ask<Rule>(`${RULES}/${id}`, { method: 'PUT', body: { enabled }, headers: { 'if-match': etag } })

/** Deliveries that were cancelled; undefined where that is not known. */
export const deleteRule = async (id: number, etag: string): Promise<string | undefined> => {
  const { headers } = await askText(`${RULES}/${id}`, { method: 'DELETE', headers: { 'if-match': etag } })
  return headers.get('cancelled-deliveries') ?? undefined
}

export const simulate = (body: JsonObject, signal: AbortSignal) =>
  ask<Simulation>(`${RULES}/simulate`, { body, signal })

export const previewTest = (body: JsonObject) => ask<PreviewAnswer>(`${RULES}/test`, { body })

export const testRule = (id: number) => ask<TestAnswer>(`${RULES}/${id}/test`, { body: {} })

/** A day in half hours, or what `query` says. */
export const getSeries = (query: string, signal: AbortSignal) =>
  ask<AlertSeries>(`alerting/series${query && `?${query}`}`, { signal })

export const getAlerts = (id: number, state: AlertState | '', before: string | undefined, signal: AbortSignal) =>
  ask<{ alerts: Alert[]; next: string | null }>(`${RULES}/${id}/alerts?${queryOf({ size: '100', state, before })}`, {
    signal,
  })

export const getDeliveries = (query: Record<string, string | undefined>, signal?: AbortSignal) =>
  ask<{ deliveries: Delivery[]; next: string | null }>(
    `alerting/deliveries?${queryOf(query)}`,
    signal ? { signal } : {},
  )

export const getDelivery = (id: number, signal: AbortSignal) => ask<Delivery>(`alerting/deliveries/${id}`, { signal })

export const redeliver = (body: { delivery: number } | { rule: number; dead: true }) =>
  ask<{ redelivered: number }>('alerting/deliveries/redeliver', { body })

const queryOf = (parameters: Record<string, string | undefined>): string => {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value ? [[name, value]] : [],
  )
  return new URLSearchParams(given).toString()
}

/** The faults of a refused rule; empty where the error is another one. */
export const faultsOf = (error: unknown): RuleFault[] => {
  const faults = error instanceof ApiError ? at(error.body, 'faults') : undefined
  if (!Array.isArray(faults)) return []
  return faults.filter(isObject).map(fault => ({
    path: textAt(fault as Json, 'path') ?? '',
    message: textAt(fault as Json, 'message') ?? '',
  }))
}

export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 412
