import { at, type Json, type JsonObject, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { listAt, numberAt, unitsAt } from './read.ts'

/** A step of a transaction's execution, of its trace and its call as far as these are indexed. */
export interface Step {
  /** Places below each step above it; none of the transaction's own. */
  path: readonly number[]
  /** `call`, `staticcall`, `delegatecall`, `create`, `suicide`. */
  type: string
  from: string | undefined
  to: string | undefined
  value: bigint | undefined
  method: string | undefined
  selector: string | undefined
  args: readonly Json[]
  gasUsed: number | undefined
  /** Why it failed by itself. */
  error: string | undefined
  /** It succeeded, and a step above it failed. */
  isUndone: boolean
  traceId: string | undefined
}

/** In the order of execution. The first is the transaction's own, also where neither its trace nor its call is indexed. */
export const stepsOf = (tx: JsonObject, traces: readonly Hit[], calls: readonly Hit[]): Step[] => {
  const steps = new Map<string, Step>([['', ofTransaction(tx)]])
  for (const hit of [...traces, ...calls]) {
    const path = pathOf(hit._source)
    const key = path.join()
    const before = steps.get(key)
    if (hit._type === 'trace') steps.set(key, ofTrace(hit, path))
    else steps.set(key, before ? { ...before, ...named(hit._source) } : ofCall(hit._source, path))
  }
  const failed = [...steps.values()].filter(({ error }) => error !== undefined).map(({ path }) => path)
  return [...steps.values()]
    .map(step => ({ ...step, isUndone: step.isUndone || failed.some(path => isBelow(step.path, path)) }))
    .sort((a, b) => order(a.path, b.path))
}

/** A step that was undone moved nothing. */
export const moves = ({ type, value, error, isUndone }: Step): boolean =>
  value !== undefined &&
  value > 0n &&
  error === undefined &&
  !isUndone &&
  type !== 'delegatecall' &&
  type !== 'callcode'

const pathOf = (source: JsonObject): number[] => listAt(source, 'traceAddress').map(Number)

const isBelow = (path: readonly number[], above: readonly number[]): boolean =>
  path.length > above.length && above.every((place, i) => path[i] === place)

const order = (a: readonly number[], b: readonly number[]): number => {
  const i = a.findIndex((place, i) => place !== b[i])
  if (i === -1) return a.length - b.length
  return b[i] === undefined ? 1 : a[i]! - b[i]
}

const ofTrace = ({ _id, _source }: Hit, path: readonly number[]): Step => {
  const text = (name: string) => textAt(_source, name)
  return {
    path,
    type: text('callType') ?? text('type') ?? 'step',
    from: text('action.from') ?? text('action.address'),
    to: text('action.to') ?? text('result.address') ?? text('action.refundAddress'),
    value: unitsAt(_source, 'action.value') ?? unitsAt(_source, 'action.balance'),
    method: undefined,
    selector: undefined,
    args: [],
    gasUsed: numberAt(_source, 'result.gasUsed.num'),
    error: failureOf(text('error'), text('revertReason')),
    isUndone: false,
    traceId: _id,
  }
}

const ofTransaction = (source: JsonObject): Step => {
  const to = textAt(source, 'to')
  return {
    path: [],
    type: to === undefined ? 'create' : 'call',
    from: textAt(source, 'from'),
    to: to ?? textAt(source, 'contractAddress'),
    value: unitsAt(source, 'value'),
    method: undefined,
    selector: undefined,
    args: [],
    gasUsed: undefined,
    error: at(source, 'status') === false ? (textAt(source, 'error') ?? 'failed') : undefined,
    isUndone: false,
    traceId: undefined,
  }
}

const failureOf = (error: string | undefined, reason: string | undefined): string | undefined =>
  error === undefined ? undefined : [error, reason].filter(Boolean).join(': ')

const ofCall = (source: JsonObject, path: readonly number[]): Step => {
  const reason = textAt(source, 'revertReason')
  return {
    path,
    type: textAt(source, 'callType') ?? 'call',
    from: textAt(source, 'from'),
    to: textAt(source, 'to'),
    value: unitsAt(source, 'value'),
    gasUsed: undefined,
    error: reason === undefined ? undefined : `Reverted: ${reason}`,
    isUndone: at(source, 'reverted') === true && reason === undefined,
    traceId: undefined,
    ...named(source),
  }
}

const named = (source: JsonObject) => ({
  method: textAt(source, 'method'),
  selector: textAt(source, 'selector'),
  args: listAt(source, 'args'),
})
