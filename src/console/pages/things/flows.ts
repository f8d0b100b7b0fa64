import { listAt, textAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'
import {
  argumentHex,
  argumentInteger,
  argumentType,
  type ExecutionStep,
  fullyIndexedLogs,
  isAddress,
  isSameAddress,
  type MovedItem,
  type Movement,
  movementOf,
  moves,
  ZERO_ADDRESS,
} from './read.ts'

/** Ether and tokens that a transaction moved. */
export interface Transfers {
  coins: readonly ExecutionStep[]
  tokens: readonly Movement[]
  /** Events whose last argument is an id. */
  indexed: ReturnType<typeof fullyIndexedLogs>
}

export const transfersOf = (
  steps: readonly ExecutionStep[],
  events: readonly SearchHit[],
  logs: readonly SearchHit[],
): Transfers => {
  const [coins, indexed] = [steps.filter(moves), fullyIndexedLogs(logs)]
  const tokens = events.flatMap(event => movementOf(event, indexed) ?? [])
  return { coins, indexed, tokens: [...tokens, ...events.flatMap(event => wrappedBy(event, coins, tokens) ?? [])] }
}

/** Wrapped ether emits no Transfer; the ether that it took or gave shows what it minted or burned. */
const wrappedBy = (
  { _source }: SearchHit,
  coins: readonly ExecutionStep[],
  tokens: readonly Movement[],
): Movement | undefined => {
  const [token = '', args] = [textAt(_source, 'address'), listAt(_source, 'args')]
  const isDeposit = textAt(_source, 'event') === 'Deposit'
  if ((!isDeposit && textAt(_source, 'event') !== 'Withdrawal') || args.length !== 2) return undefined
  const [holder, value] = [argumentHex(args[0]), argumentInteger(argumentType(args[1]), argumentHex(args[1]))]
  const isPaid = coins.some(it => it.value === value && isSameAddress(isDeposit ? it.to : it.from, token))
  if (
    value === undefined ||
    !isAddress(holder) ||
    !isPaid ||
    tokens.some(it => isSameAddress(it.token, token) && isMintOrBurn(it))
  )
    return undefined
  const [from, to] = isDeposit ? [ZERO_ADDRESS, holder] : [holder, ZERO_ADDRESS]
  return { token, from, to, items: [{ value }] }
}

const isMintOrBurn = ({ from, to }: Movement) => from === ZERO_ADDRESS || to === ZERO_ADDRESS

/** What an address has more or less of; ether without a token. */
export interface BalanceChange {
  address: string
  token: string | undefined
  item: MovedItem
  isLoss: boolean
}

/** Net changes by address, in the order of first transfers. */
export const balanceChanges = ({ coins, tokens }: Pick<Transfers, 'coins' | 'tokens'>): BalanceChange[] => {
  const sums = new Map<string, { address: string; token: string | undefined; item: MovedItem; sum: bigint }>()
  const add = (address: string, token: string | undefined, item: MovedItem, sum: bigint) => {
    const key = `${address} ${token} ${item.id}`.toLowerCase()
    const before = sums.get(key)
    if (address !== ZERO_ADDRESS) sums.set(key, { address, token, item, sum: (before?.sum ?? 0n) + sum })
  }
  const move = (from: string, to: string, token: string | undefined, item: MovedItem) => {
    const units = item.value ?? 1n
    add(from, token, item, -units)
    add(to, token, item, units)
  }
  for (const { from = '', to = '', value } of coins) move(from, to, undefined, { value: value! })
  for (const { from, to, token, items } of tokens) for (const item of items) move(from, to, token, item)
  return [...sums.values()]
    .filter(({ sum }) => sum !== 0n)
    .map(({ address, token, item, sum }) => ({
      ...{ address, token, isLoss: sum < 0n },
      item: { ...item, ...(item.value !== undefined && { value: sum < 0n ? -sum : sum }) },
    }))
}
