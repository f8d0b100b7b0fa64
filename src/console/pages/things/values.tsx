import type { ComponentChildren } from 'preact'
import { at, type Json, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { COIN_DECIMALS, coinOf, GWEI_DECIMALS } from '../../parts/format.ts'
import type { Column } from '../../parts/table.tsx'
import { Amount, Hash, Text, Time } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import { Link } from '../../shell/router.tsx'
import { any, term } from './ask.ts'
import { type Known, useKnown } from './names.ts'
import { elementsOf, integerOf, isAddress, listAt, numberAt, timeOf, unitsAt, utf8Of, ZERO } from './read.ts'

interface AddressProps {
  network: string
  value: string | null | undefined
  kind?: 'address' | 'token'
  brief?: boolean
}

/** An address that leads to its page, by the name of its contract or token where it has one. */
export const AddressLink = (props: AddressProps) => {
  const { value } = props
  if (typeof value !== 'string' || value === '') return <span class="dim">none</span>
  if (value === ZERO) return <span title={value}>the zero address</span>
  return isAddress(value) ? <Named {...props} value={value} /> : <Hash value={value} />
}

const Named = ({ network, value, kind = 'address', brief = false }: AddressProps & { value: string }) => {
  const known = useKnown(network, value)
  const name = known?.name ?? known?.symbol
  return (
    <>
      <Hash value={value} kind={kind} network={network} name={name} brief={brief} />
      {/* Many contracts have one name, and anybody can take another’s. */}
      {name !== undefined && <code class="dim">…{value.slice(-4)}</code>}
    </>
  )
}

/** The arguments of an event or a call, by name, with their types. */
export const Args = ({ network, args }: { network: string; args: readonly Json[] }) =>
  args.length === 0 ? null : (
    <dl class="args">
      {args.map((argument, i) => {
        const name = textAt(argument, 'name')
        return (
          <div key={i}>
            <dt>
              <Text value={name || `argument ${i}`} most={60} brief />{' '}
              <span class="dim">
                <Text value={textAt(argument, 'value.type') ?? ''} most={60} brief />
              </span>
            </dt>
            <dd>
              <Value network={network} argument={argument} />
            </dd>
          </div>
        )
      })}
    </dl>
  )

/** Of these, the decimals of the contract are meant; others may be of another token, or no amounts at all. */
const AMOUNT = /^_?(value|amount|wad)$/i

const Value = ({ network, argument }: { network: string; argument: Json }) => {
  const [type, hex] = [textAt(argument, 'value.type') ?? '', textAt(argument, 'value.hex')]
  if (hex === undefined) return <span class="dim">not told</span>
  if (type === 'address') return <AddressLink network={network} value={hex} />
  if (type === 'bool') return <>{at(argument, 'value.num') === 1 || hex.endsWith('1') ? 'true' : 'false'}</>
  // Of an indexed string, only the hash stands in the log.
  if (type === 'string') return <Text value={utf8Of(hex)} />
  const integer = integerOf(type, hex)
  if (integer !== undefined) {
    const isAmount = AMOUNT.test(textAt(argument, 'name') ?? '')
    return <Integer value={integer} scaled={isAmount ? numberAt(argument, 'value.scaled') : undefined} />
  }
  const elements = elementsOf(type, hex)
  if (!elements) return <Raw hex={hex} />
  return (
    <ol class="elements" start={0}>
      {elements.map((element, i) => (
        <li key={i}>
          {type.startsWith('address') ? <AddressLink network={network} value={element} /> : <Text value={element} />}
        </li>
      ))}
    </ol>
  )
}

const Integer = ({ value, scaled }: { value: bigint; scaled: number | undefined }) => (
  <span class="amount">
    {String(value)}
    {scaled !== undefined && (
      <span class="dim"> ≈ {scaled.toLocaleString(undefined, { maximumFractionDigits: 6 })}</span>
    )}
  </span>
)

/** Bytes, cut until all of them are asked for. */
export const Raw = ({ hex, most = 200 }: { hex: string; most?: number }) => (
  <code class="bytes">
    <Text value={hex} most={most} />
  </code>
)

/** What is known of a thing, by name. */
export const Facts = ({ children }: { children: ComponentChildren }) => <dl class="thing-facts">{children}</dl>

/** Nothing at all where there is no value. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) =>
  children === null || children === undefined || children === false || children === '' ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )

export const Coins = ({ network, value }: { network: string; value: bigint }) => (
  <Amount value={value} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
)

export const Gwei = ({ value }: { value: bigint }) => <Amount value={value} decimals={GWEI_DECIMALS} symbol="Gwei" />

export const HEIGHT = ['blockNumber', 'timestamp', 'transactionHash']
export const TX_FIELDS = [...HEIGHT, 'hash', 'from', 'to', 'contractAddress', 'value', 'method', 'status', 'error']
export const CALL_FIELDS = [...HEIGHT, 'from', 'to', 'value', 'method', 'str', 'selector', 'callType', 'reverted']
export const EVENT_FIELDS = [...HEIGHT, 'address', 'event', 'str', 'signature', 'data', 'logIndex']
export const MOVEMENT_FIELDS = [...HEIGHT, 'address', 'event', 'args', 'logIndex']

type Columns = Column<Hit>[]

/** Where it happened. */
export const placeColumns = (network: string): Columns => [
  {
    name: 'time',
    title: 'Time',
    width: '17ch',
    cell: ({ _source }) => {
      const time = timeOf(_source)
      return time === undefined ? null : <Time value={time} brief />
    },
  },
  {
    name: 'block',
    title: 'Block',
    width: '9ch',
    align: 'right',
    cell: ({ _source }) => <BlockLink network={network} number={numberAt(_source, 'blockNumber.num')} />,
  },
  { name: 'tx', title: 'Transaction', width: '16ch', cell: hit => <TxLink network={network} hit={hit} /> },
]

export const BlockLink = ({ network, number }: { network: string; number: number | undefined }) => {
  if (number === undefined) return null
  const href = hrefOf(network, 'block', String(number))
  return href === undefined ? number : <Link to={href}>{number}</Link>
}

const TxLink = ({ network, hit: { _type, _id, _source } }: { network: string; hit: Hit }) => (
  <Hash value={_type === 'tx' ? _id : (textAt(_source, 'transactionHash') ?? '')} kind="tx" network={network} />
)

const address = (network: string, name: string, title: string, path: string): Column<Hit> => ({
  name,
  title,
  width: '16ch',
  cell: ({ _source }) => <AddressLink network={network} value={textAt(_source, path)} />,
})

const value = (network: string): Column<Hit> => ({
  name: 'value',
  title: 'Value',
  width: 'minmax(12ch, 1fr)',
  align: 'right',
  cell: ({ _source }) => {
    const units = unitsAt(_source, 'value')
    return units === undefined ? null : <Amount value={units} decimals={COIN_DECIMALS} symbol={coinOf(network)} />
  },
})

export const txColumns = (network: string): Columns => [
  ...placeColumns(network),
  address(network, 'from', 'From', 'from'),
  {
    name: 'to',
    title: 'To',
    width: '16ch',
    cell: ({ _source }) => (
      <AddressLink network={network} value={textAt(_source, 'to') ?? textAt(_source, 'contractAddress')} />
    ),
  },
  {
    name: 'method',
    title: 'What',
    width: 'minmax(16ch, 2fr)',
    cell: ({ _source }) => (
      <>
        {_source.status === false && <span class="bad">failed </span>}
        <Text value={whatOf(_source)} most={100} brief />
      </>
    ),
  },
  value(network),
]

const whatOf = (source: Hit['_source']): string => {
  const what = textAt(source, 'method') ?? (at(source, 'to') === null ? 'creates a contract' : '')
  return [what, textAt(source, 'error')].filter(Boolean).join(' · ')
}

export const callColumns = (network: string): Columns => [
  ...placeColumns(network),
  address(network, 'from', 'From', 'from'),
  address(network, 'to', 'To', 'to'),
  {
    name: 'what',
    title: 'What',
    width: 'minmax(20ch, 3fr)',
    cell: ({ _source }) => (
      <>
        {_source.reverted === true && <span class="bad">failed </span>}
        <Text value={textAt(_source, 'str') ?? textAt(_source, 'selector') ?? 'without call data'} brief />
      </>
    ),
  },
  value(network),
]

export const eventColumns = (network: string): Columns => [
  ...placeColumns(network),
  address(network, 'address', 'Contract', 'address'),
  {
    name: 'what',
    title: 'Event',
    width: 'minmax(24ch, 3fr)',
    cell: ({ _source }) => (
      <Text value={textAt(_source, 'str') ?? textAt(_source, 'event') ?? 'not decoded'} most={300} brief />
    ),
  },
]

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
