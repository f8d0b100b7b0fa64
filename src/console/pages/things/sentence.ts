import { type JsonObject, listAt, textAt, valueAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import { countText } from '../../parts/format.ts'
import { type BalanceChange, balanceChanges, type Transfers } from './flows.ts'
import {
  argumentHex,
  argumentInteger,
  argumentType,
  isItemId,
  isSameAddress,
  type MovedItem,
  unitsAt,
  ZERO_ADDRESS,
} from './read.ts'

/** Our words as text; what the chain says, addresses and amounts as objects. */
export type SentencePart =
  | string
  | { said: string }
  | { address: string }
  | { coins: bigint }
  | { token: string; items: readonly MovedItem[] }

type Parts = readonly SentencePart[]

interface TxStory {
  tx: JsonObject
  transfers: Transfers
  events: readonly SearchHit[]
  /** Number of calls, with its own. */
  calls: number
  /** Whether these are all of the transaction's. */
  isWhole: boolean
}

interface Read extends TxStory {
  sender: string
  to: string | undefined
  value: bigint
  input: string
  method: string | undefined
  gained: readonly BalanceChange[]
  lost: readonly BalanceChange[]
}

/** What a transaction did, where its transfers and events leave no doubt; otherwise what it called. */
export const sentenceOf = (happening: TxStory): Parts => {
  const { tx, transfers } = happening
  const sender = textAt(tx, 'from') ?? ''
  const own = balanceChanges(transfers).filter(({ address }) => isSameAddress(address, sender))
  const read: Read = {
    ...{ ...happening, sender, to: textAt(tx, 'to'), value: unitsAt(tx, 'value') ?? 0n },
    ...{ input: textAt(tx, 'input') ?? '0x', method: textAt(tx, 'method') },
    ...{ gained: own.filter(it => !it.isLoss), lost: own.filter(it => it.isLoss) },
  }
  const fee = feeOf(tx)
  return tell`${{ address: sender }} ${whatIn(read)}${fee === undefined ? '' : tell` and paid ${{ coins: fee }} in fees`}.`
}

export const feeOf = (tx: JsonObject): bigint | undefined => {
  const [used, price] = [unitsAt(tx, 'gasUsed'), unitsAt(tx, 'effectiveGasPrice') ?? unitsAt(tx, 'gasPrice')]
  return used !== undefined && price !== undefined ? used * price : undefined
}

const tell = (texts: TemplateStringsArray, ...parts: readonly (SentencePart | Parts)[]): Parts =>
  texts.flatMap((text, i) => [text, ...[parts[i] ?? []].flat()]).filter(part => part !== '')

const whatIn = (read: Read): Parts => {
  const status = valueAt(read.tx, 'status')
  if (status === false) {
    const error = textAt(read.tx, 'error')
    return tell`tried to ${triedText(read)}, which failed${error ? tell`: ${{ said: error }},` : ''}`
  }
  if (read.to === undefined) return tell`deployed ${{ address: textAt(read.tx, 'contractAddress') ?? '' }}`
  const isKnown = status === true && read.isWhole
  const known = isKnown && READINGS.map(reading => reading(read)).find(it => it !== undefined)
  if (known) return known
  if (read.input === '0x' && read.value > 0n) return tell`sent ${{ coins: read.value }} to ${{ address: read.to }}`
  if (isKnown && isQuiet(read)) return tell`sent ${sentData(read)} to ${{ address: read.to }}`
  return tell`called ${called(read)}${isKnown ? sideEffect(read) : ''}`
}

/** Nothing tells whether code ran: the receiver may be a plain account. */
const isQuiet = ({ method, input, events, calls }: Read) =>
  method === undefined && input !== '0x' && events.length === 0 && calls <= 1

const sentData = ({ input, value }: Read): Parts => {
  const start = input.length > 10 ? `${input.slice(0, 10)}…` : input
  const data = tell`${countText(input.length / 2 - 1, 'byte')} of data (${{ said: start }})`
  return value > 0n ? tell`${{ coins: value }} and ${data}` : data
}

const triedText = (read: Read): Parts => {
  if (read.to === undefined) return ['deploy a contract']
  if (read.input === '0x') return tell`send ${{ coins: read.value }} to ${{ address: read.to }}`
  return tell`call ${called(read)}`
}

const called = ({ to = '', method, input, value }: Read): Parts => {
  const name = method ?? (input === '0x' ? undefined : input.slice(0, 10))
  const paid = value > 0n ? tell` with ${{ coins: value }}` : ''
  if (name === undefined) return tell`${{ address: to }} without data`
  return tell`${{ said: name }} of ${{ address: to }}${paid}`
}

/** The only transfer below a call. */
const sideEffect = ({ transfers: { coins, tokens } }: Read): Parts => {
  const [only] = tokens
  if (coins.length > 0 || tokens.length !== 1) return []
  const { from, to, token, items } = only!
  const moved = { token, items }
  if (from === ZERO_ADDRESS) return tell`, which minted ${moved} to ${{ address: to }}`
  if (to === ZERO_ADDRESS) return tell`, which burned ${moved} of ${{ address: from }}`
  return tell`, which transferred ${moved} from ${{ address: from }} to ${{ address: to }}`
}

const changedAmount = ({ token, item }: BalanceChange): SentencePart =>
  token === undefined ? { coins: item.value ?? 0n } : { token, items: [item] }

const emittersOf = ({ events }: Read, ...names: string[]): string[] => [
  ...new Set(
    events
      .filter(({ _source }) => names.includes(textAt(_source, 'event') ?? ''))
      .map(({ _source }) => textAt(_source, 'address') ?? ''),
  ),
]

const swap = (read: Read): Parts | undefined => {
  const { lost, gained } = read
  const pools = emittersOf(read, 'Swap', 'TokenExchange')
  if (pools.length === 0 || lost.length !== 1 || gained.length !== 1) return undefined
  const where = pools.length === 1 ? tell`on ${{ address: pools[0]! }}` : `through ${pools.length} pools`
  return tell`swapped ${changedAmount(lost[0]!)} for ${changedAmount(gained[0]!)} ${where}`
}

/** Two tokens against one of the pool. */
const liquidity = (read: Read): Parts | undefined => {
  const both = (changes: readonly BalanceChange[]) =>
    tell`${changedAmount(changes[0]!)} and ${changedAmount(changes[1]!)}`
  const isOfPool = ([share, more]: readonly BalanceChange[], event: string) =>
    more === undefined && emittersOf(read, event).some(pool => isSameAddress(pool, share?.token))
  const { lost, gained } = read
  const pool = (share: BalanceChange) => ({ address: share.token! })
  if (lost.length === 2 && isOfPool(gained, 'Mint')) return tell`added ${both(lost)} to ${pool(gained[0]!)}`
  if (gained.length === 2 && isOfPool(lost, 'Burn')) return tell`removed ${both(gained)} from ${pool(lost[0]!)}`
  return undefined
}

/** Against tokens that the called contract itself mints or burns, as vaults and wrapped ether do. */
const deposit = ({ to, method = '', lost, gained, transfers: { tokens } }: Read): Parts | undefined => {
  if (lost.length !== 1 || gained.length !== 1) return undefined
  const [given, got] = [lost[0]!, gained[0]!]
  const hasOwn = (end: 'from' | 'to') => tokens.some(it => isSameAddress(it.token, to) && it[end] === ZERO_ADDRESS)
  const [paid, received] = [changedAmount(given), changedAmount(got)]
  if (isSameAddress(got.token, to) && hasOwn('from'))
    return /^(safe)?mint/i.test(method) ? tell`minted ${received} for ${paid}` : tell`deposited ${paid} for ${received}`
  if (isSameAddress(given.token, to) && hasOwn('to')) return tell`redeemed ${paid} for ${received}`
  return undefined
}

/** Methods that move nothing but what they say. */
const MOVING_METHOD = /^(transfer|transferFrom|safe(Batch)?TransferFrom|(safe)?mint(To|Batch)?|burn(From|Batch)?)$/i

const transfer = ({ to, method = '', sender, transfers: { coins, tokens } }: Read): Parts | undefined => {
  const [only] = tokens
  if (!only || tokens.length > 1 || coins.length > 0 || !isSameAddress(only.token, to)) return undefined
  if (!MOVING_METHOD.test(method)) return undefined
  const moved = { token: only.token, items: only.items }
  const isOwn = isSameAddress(only.to, sender)
  const target = isSameAddress(only.to, only.from) ? ' to itself' : isOwn ? '' : tell` to ${{ address: only.to }}`
  if (only.from === ZERO_ADDRESS) return tell`minted ${moved}${target}`
  const source = isSameAddress(only.from, sender) ? '' : tell` from ${{ address: only.from }}`
  return only.to === ZERO_ADDRESS ? tell`burned ${moved}${source}` : tell`transferred ${moved}${source}${target}`
}

/** From here on, an allowance is without a limit. */
const UNLIMITED = 1n << 255n

const approval = ({ to, sender, events, transfers: { coins, tokens, indexed } }: Read): Parts | undefined => {
  const [only] = events
  if (!only || events.length > 1 || coins.length + tokens.length > 0) return undefined
  const [name, token, args] = [
    textAt(only._source, 'event'),
    textAt(only._source, 'address'),
    listAt(only._source, 'args'),
  ]
  const [owner, spender, last] = args.map(argumentHex)
  if (token === undefined || !isSameAddress(token, to) || !isSameAddress(owner, sender) || args.length !== 3)
    return undefined
  const [by, of] = [{ address: spender! }, { address: token }]
  if (name === 'ApprovalForAll')
    return last!.endsWith('1')
      ? tell`allowed ${by} to transfer all its ${of}`
      : tell`revoked the approval of ${by} for ${of}`
  const units = argumentInteger(argumentType(args[2]), last!)
  if (name !== 'Approval' || units === undefined) return undefined
  if (isItemId(only._source, args[2], indexed))
    return tell`allowed ${by} to transfer ${{ token, items: [{ id: units }] }}`
  if (units === 0n) return tell`revoked the allowance of ${by} for ${of}`
  return tell`allowed ${by} to spend ${units >= UNLIMITED ? tell`any amount of ${of}` : { token, items: [{ value: units }] }}`
}

const READINGS = [swap, liquidity, deposit, transfer, approval]
