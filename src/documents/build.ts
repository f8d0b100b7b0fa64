import type { CallTrace, RpcLog } from '../chain/wire.ts'
import { type Field, isList, type Kind, type List, MAPPING, wireName } from '../mapping/index.ts'
import { callDocument } from './calls.ts'
import { contractDocument } from './contracts.ts'
import type { DecodedBlock } from './decoded-block.ts'
import type { Document } from './document.ts'
import type { Failure } from './failures.ts'
import { blockParts, eventDocument, hasInteger, type LogPlace, logDocument } from './logs.ts'
import { placesOf } from './places.ts'
import { type Rest, restOfBlock, restOfTx } from './rest.ts'
import * as show from './show.ts'
import { tokenDocument } from './tokens.ts'
import { traceDocument, traceReader } from './traces.ts'
import { lowerHex, type Shown, shownOf } from './wire.ts'

export interface BlockDocumentsInput extends DecodedBlock {
  /** Decimals of the token at an address (40 lower-case digits), undefined where unknown or no token. */
  decimals(address: string): number | undefined
}

/**
 * The documents of one block, of each kind by the order in which it carries them. Each is built when it is first asked for, and kept. An
 * event is undefined where no declaration of its log is known.
 */
export type BlockDocuments = Readonly<Record<Exclude<Kind, 'event'>, (index: number) => Document>> & {
  event(index: number): Document | undefined
}

/** What a block carries, of the kinds that it lists apart from its transactions and their logs, in the order in which rules look at them. */
export const LISTED = {
  call: ({ calls }) => calls,
  contract: ({ contracts }) => contracts,
  token: ({ tokens }) => tokens,
  trace: ({ traces }) => traces,
} as const satisfies Record<
  Exclude<Kind, 'block' | 'tx' | 'log' | 'event'>,
  (block: DecodedBlock) => readonly unknown[]
>

/** Builds the documents of a block before it is stored: what a search answers from the store afterwards is the same. */
export const createBlockDocuments = (
  { raw, logs, methods, failures, traces, calls, contracts, tokens, decimals }: BlockDocumentsInput,
  big: show.BigIntegers,
): BlockDocuments => {
  const { block, receipts } = raw
  const places = placesOf(raw)
  const parts = blockParts(Number(block.number), lowerHex(block.hash), Number(block.timestamp))
  const hashOf = (index: number): string => lowerHex(block.transactions[index]!.hash)

  const wireLogs: RpcLog[] = []
  /** Index of the transaction of each log. */
  const owners: number[] = []
  for (let index = 0; index < receipts.length; index++)
    for (const log of receipts[index]!.logs) {
      wireLogs.push(log)
      owners.push(index)
    }

  const placeOf = (index: number): LogPlace => {
    const owner = owners[index]!
    return {
      block: parts,
      transactionHash: hashOf(owner),
      transactionIndex: places ? places.txs[owner]! : owner,
      logIndex: places ? places.logs[index]! : index,
      address: show.address(wireLogs[index]!.address),
    }
  }

  const eventOf = (index: number): Document | undefined => {
    const { signature, args } = logs[index]!
    const { event, error, probability } = signature
    if (event === null) return undefined
    const emitter = wireLogs[index]!.address
    const known = args && hasInteger(args) ? decimals(emitter.slice(2).toLowerCase()) : undefined
    return eventDocument(placeOf(index), { event, args, error, probability, decimals: known ?? null }, big)
  }

  const firstReward = traces.findIndex(({ type }) => type === 'reward')
  const traceOf = (index: number): Document => {
    const trace = traces[index]!
    const fields = new Map<string, unknown>()
    for (const { field, read, shown } of TRACE_MEMBERS) {
      const value = read(trace)
      if (value === undefined) continue
      const text = value === null ? null : shown(value, big)
      if (text !== undefined) fields.set(field, text)
    }
    if (trace.type === 'reward') return traceDocument({ block: parts, reward: index - firstReward }, fields, big)
    const { transactionHash, transactionPosition } = trace
    return traceDocument(
      { block: parts, transactionHash: lowerHex(transactionHash), transactionIndex: transactionPosition },
      fields,
      big,
    )
  }

  const callOf = (index: number): Document => {
    const { tx, trace, from, to, signature, args, error, reverted, revert, value, callType } = calls[index]!
    const { event, probability } = signature
    const called = trace === null ? undefined : (traces[trace] as CallTrace)
    const transaction = called ? undefined : transactionAt(tx)
    const transactionHash = lowerHex(called ? called.transactionHash : transaction!.hash)
    return callDocument(
      {
        block: parts,
        transactionHash,
        transactionIndex: tx,
        from: show.address(from),
        to: show.address(to),
        value: shownAmount(value, big),
        callType,
        traceAddress: called?.traceAddress ?? [],
        reverted,
        selector: (called ? called.action.input : transaction!.input).slice(0, 10).toLowerCase(),
        event,
        args,
        error,
        revertReason: revert?.reason,
        revertName: revert?.name,
        probability: event && probability,
        decimals: decimals(to.slice(2).toLowerCase()) ?? null,
      },
      big,
    )
  }

  const contractOf = (index: number): Document => {
    const { tx, address, creator, implementation, ...rest } = contracts[index]!
    const { hash, from } = transactionAt(tx)
    const place = { block: parts, transactionHash: lowerHex(hash), origin: show.address(from) }
    const addresses = {
      address: show.address(address),
      creator: show.address(creator),
      implementation: implementation && show.address(implementation),
    }
    return contractDocument(place, { ...addresses, ...rest }, big)
  }
  const tokenOf = (index: number): Document => {
    const { address, ...rest } = tokens[index]!
    return tokenDocument(parts, { address: show.address(address), ...rest }, big)
  }
  const transactionAt = (place: number) => block.transactions[places ? places.txs.indexOf(place) : place]!

  return {
    block: kept(() => {
      const derived = {
        number: show.quantity(parts.number, big),
        transactions: block.transactions.map((_, index) => hashOf(index)),
      }
      return {
        _id: parts.hash,
        _source: assemble(MEMBERS.block, { wire: block, rest: restOfBlock(block), derived }, big),
      }
    }),
    tx: kept(index => {
      const derived = {
        blockHash: parts.hash,
        blockNumber: show.quantity(parts.number, big),
        timestamp: parts.time,
        transactionIndex: show.quantity(places ? places.txs[index]! : index, big),
        method: methods[index] ?? undefined,
        ...shownFailure(failures[index]),
      }
      const [wire, receipt] = [block.transactions[index]!, receipts[index]!]
      const source = assemble(MEMBERS.tx, { wire, receipt, rest: restOfTx(wire, receipt), derived }, big)
      return { _id: hashOf(index), _routing: parts.hash, _parent: parts.hash, _source: source }
    }),
    log: kept(index => {
      const { topics, data } = wireLogs[index]!
      return logDocument(placeOf(index), topics.map(lowerHex), lowerHex(data), big)
    }),
    event: kept(eventOf),
    trace: kept(traceOf),
    call: kept(callOf),
    contract: kept(contractOf),
    token: kept(tokenOf),
  }
}

const amountOf = shownOf(MAPPING.tx.fields.value as Field)
const shownAmount = (value: unknown, big: show.BigIntegers): unknown =>
  value === null || value === undefined ? null : (amountOf(value, big) ?? null)

const shownFailure = (failure: Failure | undefined) =>
  failure && { ...failure, revertAddress: failure.revertAddress && show.address(failure.revertAddress) }

const kept = <T>(build: (index: number) => T): ((index: number) => T) => {
  const built = new Map<number, T>()
  return index => {
    let one = built.get(index)
    if (one === undefined) {
      one = build(index)
      built.set(index, one)
    }
    return one
  }
}

/** A member of `_source`: where it comes from, and how the wire's value is shown. */
interface Member {
  field: string
  from: 'wire' | 'receipt' | 'rare' | 'extra' | 'derived'
  /** Name in the wire's object. */
  wire: string
  shown: Shown
}

const membersOf = (kind: 'block' | 'tx' | 'trace'): Member[] =>
  Object.entries(MAPPING[kind].fields).map(([field, declaration]) => {
    return {
      field,
      from: sourceOf(declaration),
      wire: wireName(field, declaration),
      shown: shownOf(declaration),
    }
  })

const sourceOf = (declaration: Field | List): Member['from'] => {
  if (!isList(declaration) && declaration.rare !== undefined) return 'rare'
  const { origin } = declaration
  if (origin === 'rest') return 'extra'
  return origin === 'wire' || origin === 'receipt' ? origin : 'derived'
}

const MEMBERS = { block: membersOf('block'), tx: membersOf('tx') }
const DECODED = new Set(
  Object.entries(MAPPING.trace.fields).flatMap(([field, { origin }]) => (origin === 'decoded' ? [field] : [])),
)
const TRACE_MEMBERS = membersOf('trace').flatMap(({ field, from, wire, shown }) =>
  from === 'wire' || DECODED.has(field) ? [{ field, read: traceReader(wire), shown }] : [],
)

type Values = Readonly<Record<string, unknown>>

const memberOf = ({ from, field, wire }: Member, parts: Parts): unknown => {
  if (from === 'rare') return parts.rest?.rare.get(field)
  if (from === 'extra') return parts.rest?.extra && JSON.parse(JSON.stringify(parts.rest.extra))
  return from === 'derived' ? parts.derived[field] : parts[from]![wire]
}

interface Parts {
  wire: Values
  receipt?: Values
  rest: Rest | undefined
  derived: Values
}

const assemble = (members: readonly Member[], from: Parts, big: show.BigIntegers): Record<string, unknown> => {
  const source: Record<string, unknown> = {}
  for (const member of members) {
    const value = memberOf(member, from)
    if (value === undefined) continue
    const shown = member.from === 'derived' || value === null ? value : member.shown(value, big)
    if (shown !== undefined) source[member.field] = shown
  }
  return source
}
