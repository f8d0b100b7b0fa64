import { at, type Json, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Amount } from '../../parts/amount.tsx'
import type { Column } from '../../parts/table.tsx'
import { AddressLink } from './address-link.tsx'
import { any, term } from './ask.ts'
import { placeColumns } from './columns.tsx'
import { type Known, useKnown } from './names.ts'
import { elementsOf, integerOf, listAt, ZERO } from './read.ts'

/** What one event moved. */
export interface Movement {
  token: string
  from: string
  to: string
  items: readonly Item[]
}

export interface Item {
  /** Of one of many tokens of a contract (ERC-721, ERC-1155). */
  id?: bigint
  /** In the token's smallest unit. */
  value?: bigint
}

export const MOVING = ['Transfer', 'TransferSingle', 'TransferBatch']
export const isMovement = { terms: { 'event.raw': MOVING } }

/** Movements from or to an address. */
export const movementsOf = (address: string) => ({
  bool: {
    filter: [isMovement, { nested: { path: 'args', query: any(term('args.value.hex', address)) } }],
  },
})

/** Undefined for an event of such a name with other arguments. */
export const movementOf = ({ _source }: Hit): Movement | undefined => {
  const args = listAt(_source, 'args')
  const name = textAt(_source, 'event')
  const [from, to, last] = name === 'Transfer' ? args : args.slice(1)
  if (typeOf(from) !== 'address' || typeOf(to) !== 'address') return undefined
  const items = name === 'Transfer' ? itemsOfTransfer(args, last) : itemsOfMany(name, args)
  if (!items) return undefined
  return { token: textAt(_source, 'address') ?? '', from: hexOf(from), to: hexOf(to), items }
}

const itemsOfTransfer = (args: Json[], last: Json | undefined): Item[] | undefined => {
  const units = integerOf(typeOf(last), hexOf(last))
  if (units === undefined || args.length !== 3) return undefined
  return [/id$/i.test(textAt(last, 'name') ?? '') ? { id: units } : { value: units }]
}

const itemsOfMany = (name: string | undefined, args: Json[]): Item[] | undefined => {
  const [, , , id, value] = args
  if (args.length !== 5) return undefined
  if (name === 'TransferSingle') {
    const [one, amount] = [id, value].map(argument => integerOf(typeOf(argument), hexOf(argument)))
    return one === undefined || amount === undefined ? undefined : [{ id: one, value: amount }]
  }
  const [ids, values] = [id, value].map(argument => elementsOf(typeOf(argument), hexOf(argument)))
  return ids && values && ids.length === values.length
    ? ids.map((one, i) => ({ id: BigInt(one), value: BigInt(values[i]!) }))
    : undefined
}

const typeOf = (argument: Json | undefined): string => textAt(argument, 'value.type') ?? ''
const hexOf = (argument: Json | undefined): string => textAt(argument, 'value.hex') ?? ''

/** What an ERC-721 moves is an id, whatever its argument is called. */
const itemsBy = (items: readonly Item[], known: Known | undefined): readonly Item[] =>
  items.map(item => {
    if (known?.standard === 'ERC-721' && item.id === undefined) return { id: item.value! }
    if (known?.standard === 'ERC-20' && item.value === undefined) return { value: item.id! }
    return item
  })

/** Amounts and ids, with the token's decimals and symbol. */
export const Moved = ({ network, movement: { token, items } }: { network: string; movement: Movement }) => {
  const known = useKnown(network, token)
  return (
    <span class="moved">
      {itemsBy(items, known).map(({ id, value }, i) => (
        <span key={i}>
          {i > 0 && ', '}
          {value !== undefined && (
            <Amount
              value={value}
              decimals={id === undefined ? (known?.decimals ?? 0) : 0}
              symbol={id === undefined ? known?.symbol : undefined}
            />
          )}
          {id !== undefined && (
            <span class="amount">
              {value !== undefined && ' of '}
              {`#${id}`}
            </span>
          )}
        </span>
      ))}
      {known?.symbol === undefined && known?.decimals === undefined && !items.some(({ id }) => id !== undefined) && (
        <span class="dim"> smallest units</span>
      )}
    </span>
  )
}

export const Party = ({ network, value, zero }: { network: string; value: string; zero: string }) =>
  value.toLowerCase() === ZERO ? (
    <span class="dim" title={value}>
      {zero}
    </span>
  ) : (
    <AddressLink network={network} value={value} />
  )

/** `of` leaves out the token, where all are of one. */
export const movementColumns = (network: string, { token: withToken }: { token: boolean }): Column<Hit>[] => {
  const column = (
    name: string,
    title: string,
    cell: (movement: Movement) => preact.ComponentChildren,
    width: string,
  ) => ({
    name,
    title,
    width,
    cell: (hit: Hit) => {
      const movement = movementOf(hit)
      return movement ? cell(movement) : name === 'amount' ? <NotRead hit={hit} /> : null
    },
  })
  return [
    ...placeColumns(network),
    column('from', 'From', ({ from }) => <Party network={network} value={from} zero="created" />, '16ch'),
    column('to', 'To', ({ to }) => <Party network={network} value={to} zero="destroyed" />, '16ch'),
    column('amount', 'Amount', movement => <Moved network={network} movement={movement} />, 'minmax(18ch, 1fr)'),
    ...(withToken
      ? [column('token', 'Token', ({ token }) => <AddressLink network={network} value={token} kind="token" />, '18ch')]
      : []),
  ]
}

const NotRead = ({ hit }: { hit: Hit }) => (
  <span class="dim">{String(at(hit._source, 'event') ?? '')} with other arguments</span>
)
