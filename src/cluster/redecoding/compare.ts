import { createCallSignatures } from '../../decode/calls.ts'
import type { OwnAbi } from '../../decode/declarations.ts'
import { renderEvent } from '../../decode/render.ts'
import { fullType } from '../../decode/signature.ts'
import type { AbiParam, DecodedArg, Signature } from '../../decode/types.ts'
import { eventDocument, hasInteger } from '../../documents/logs.ts'
import { asBigint, asJson, eventId, formatArgument, readDocument, traceId } from '../../documents/show.ts'
import { abiNames } from '../../engine/redecode/candidates.ts'
import { isLessSure, type Sureness, surenessOf } from '../../engine/redecode/comparison.ts'
import { blockOf } from '../../engine/schema.ts'
import { type Kind, MAPPING } from '../../mapping/index.ts'
import type { ClusterHit } from '../hits/cluster-hit.ts'
import { eachMember, endOfValue } from '../hits/scan.ts'
import type { Step } from './redecoder.ts'

type Decimals = (address: string) => number | undefined

export const hitSource = ({ source }: Pick<ClusterHit, 'source'>) =>
  readDocument(source, asBigint) as Record<string, unknown>

/** Replaces the decoding of a log by an event that says more. */
export const createLogComparison = (abi: OwnAbi, decimals: Decimals) => {
  const { topics: wanted } = abiNames(abi)
  return async (hits: readonly ClusterHit[], { finder, visible, decoding, changes, learn }: Step) => {
    const logs = hits.map(hit => ({ hit, source: hitSource(hit) as unknown as LogSource }))
    const idOf = ({ transactionHash, logIndex }: LogSource) => eventId(transactionHash, Number(logIndex.raw))
    const events = await finder.byId(
      'event',
      logs.map(({ source }) => idOf(source)),
      visible,
    )
    for (const { hit, source } of logs) {
      const { topics, data, address, transactionHash, blockHash, timestamp } = source
      if (!wanted.has(topics[0]!)) continue
      const event = events.get(idOf(source))
      const was = event ? shownEvent(hitSource(event)) : UNDECODED
      if (!mayGain(was, abi, abi.events)) continue
      const { signature, args } = decoding.log({ address: address.toLowerCase(), topics, data }, hit.position)
      if (signature.event === null || isDecodedAlike(was, { signature, args })) continue
      if (isLessSure(surenessOf(signature), was) || !learn(signature)) continue
      const block = { number: Number(source.blockNumber.raw), hash: blockHash, time: 0, datetime: timestamp }
      const place = {
        ...{ block, transactionHash, address },
        transactionIndex: Number(source.transactionIndex.raw),
        logIndex: Number(source.logIndex.raw),
      }
      const { event: declared, error, probability } = signature
      const parts = { event: declared, args, error, probability, decimals: known(args, address, decimals) }
      changes.put('event', hit, eventDocument(place, parts, asJson), event)
    }
  }
}

/** Decodes calls again, and names the functions that transactions call. */
export const createCallComparison = (abi: OwnAbi, decimals: Decimals) => {
  const { selectors } = abiNames(abi)
  const signatureOf = createCallSignatures()
  return async (hits: readonly ClusterHit[], step: Step) => {
    const { finder, visible, decoding, beginningOf, changes, learn } = step
    const calls = hits
      .map(hit => ({ hit, source: hitSource(hit) as unknown as CallSource }))
      .filter(({ source }) => selectors.has(source.selector))
    const isInner = ({ source }: (typeof calls)[number]) => source.traceAddress.length > 0
    const inner = calls.filter(isInner).map(({ source }) => callerStepId(source))
    const top = calls.filter(call => !isInner(call)).map(({ source }) => source.transactionHash)
    const [txs, traces] = await Promise.all([finder.byId('tx', top, visible), finder.byId('trace', inner, visible)])
    for (const call of calls) {
      const { hit, source } = call
      const caller = isInner(call) ? traces.get(callerStepId(source)) : txs.get(source.transactionHash)
      // It was reorganised away since.
      if (!caller) continue
      const told = hitSource(caller) as { input: string; action: { input: string }; method?: string }
      const input = isInner(call) ? told.action.input : told.input
      const was = shownCall({ ...source })
      if (was.decodes && was.probability > abi.probability) continue
      const [to, at] = [
        source.to.toLowerCase(),
        beginningOf(blockOf(hit.position), Number(source.transactionIndex.raw)),
      ]
      const { args, error, ...decoded } = decoding.call(to, input, at)
      const signature = signatureOf({ args, error, ...decoded })
      const { event, probability } = signature
      const isSurer = !isLessSure(surenessOf(signature), was)
      const isOther = mayGain(was, abi, abi.functions) && event !== null && !isDecodedAlike(was, { signature, args })
      if (isOther && isSurer && learn(signature)) {
        const scale = known(args, to, decimals)
        changes.set(hit, 'method', event.name)
        changes.set(hit, 'args', args?.map(arg => formatArgument(arg, scale, asJson)) ?? [])
        changes.set(hit, 'error', error)
        changes.set(hit, 'str', args && renderEvent(event, args))
        changes.set(hit, 'probability', probability)
      }
      // Names it even if the call is unchanged: a crash may have separated the two changes.
      const method = isInner(call) ? null : decoding.methodOf(input, to, at)
      if (method !== null && isSurer) changes.set(caller, 'method', method)
    }
  }
}

const known = (args: readonly DecodedArg[] | null, address: string, decimals: Decimals): number | null =>
  args && hasInteger(args) ? (decimals(address.slice(2).toLowerCase()) ?? null) : null

const callerStepId = ({ transactionHash, traceAddress }: CallSource): string => traceId(transactionHash, traceAddress)

/** A number as documents show it. */
export interface Quantity {
  raw: string
}

interface LogSource {
  address: string
  topics: string[]
  data: string
  logIndex: Quantity
  transactionIndex: Quantity
  transactionHash: string
  blockHash: string
  blockNumber: Quantity
  timestamp: string
}

interface CallSource {
  selector: string
  to: string
  transactionHash: string
  transactionIndex: Quantity
  traceAddress: number[]
}

/** How a document was decoded, as far as it shows that. */
export interface ShownDocument extends Sureness {
  name: string | null
  args: readonly Argument[]
}

interface Argument {
  name: string
  value: { hex: string; type: string }
}

/** Decoding of a log that is not an event. */
export const UNDECODED: ShownDocument = { name: null, args: [], decodes: false, probability: 0 }

type Source = Readonly<Record<string, unknown>>

const shownEvent = ({ event, args, error, probability }: Source): ShownDocument => ({
  name: event as string,
  args: args as Argument[],
  decodes: error === null,
  probability: probability as number,
})

const shownCall = ({ method, args, str, probability }: Source): ShownDocument => ({
  name: method as string | null,
  args: args as Argument[],
  // With bytes after the arguments, it has an error as well.
  decodes: str !== null,
  probability: (probability ?? 0) as number,
})

/** Whether the decoding is the same: then nothing changes, decimals included. */
export const isDecodedAlike = (
  was: ShownDocument,
  now: { signature: Signature; args: readonly DecodedArg[] | null },
): boolean => {
  const { event, error, probability } = now.signature
  if (!was.decodes || error !== null || event?.name !== was.name || probability !== was.probability) return false
  const args = (now.args ?? []).map(arg => formatArgument(arg, null, asJson))
  return (
    args.length === was.args.length &&
    args.every(({ name, value }, i) => {
      const { name: before, value: other } = was.args[i]!
      return name === before && value.type === other.type && value.hex === other.hex
    })
  )
}

/** Whether an ABI may improve it: not if they agree already or its probability is higher. */
export const mayGain = (
  was: ShownDocument,
  { probability }: Pick<OwnAbi, 'probability'>,
  declared: readonly { name: string; inputs: readonly AbiParam[] }[],
): boolean => {
  if (!was.decodes) return true
  if (was.probability !== probability) return was.probability < probability
  return !declared.some(
    ({ name, inputs }) =>
      name === was.name &&
      inputs.length === was.args.length &&
      inputs.every((input, i) => input.name === was.args[i]!.name && fullType(input) === was.args[i]!.value.type),
  )
}

/** Replaces members and leaves other bytes unchanged. New members follow the mapping's order. */
export const withMembers = (kind: Kind, source: string, changed: ReadonlyMap<string, string>): string => {
  const members: [name: string, text: string][] = []
  const bytes = Buffer.from(source)
  eachMember(bytes, 0, (from, at) => {
    const to = endOfValue(bytes, from)
    const name = bytes.toString('utf8', at, from - 2)
    members.push([name, changed.get(name) ?? bytes.toString('utf8', from, to)])
    return to
  })
  const there = new Set(members.map(([name]) => name))
  for (const [name, text] of changed) {
    if (there.has(name)) continue
    const rank = rankOf(kind, name)
    const next = members.findIndex(([other]) => rankOf(kind, other) > rank)
    members.splice(next < 0 ? members.length : next, 0, [name, text])
  }
  return `{${members.map(([name, text]) => `"${name}":${text}`).join()}}`
}

const rankOf = (kind: Kind, name: string): number => {
  let ranks = RANKS.get(kind)
  if (!ranks) {
    const names = Object.keys(MAPPING[kind].fields).map(path => path.split('.')[0]!)
    ranks = new Map([...new Set(names)].map((name, rank) => [name, rank]))
    RANKS.set(kind, ranks)
  }
  return ranks.get(name) ?? Number.POSITIVE_INFINITY
}

const RANKS = new Map<Kind, ReadonlyMap<string, number>>()
