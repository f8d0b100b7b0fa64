import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import { type Json, textAt, valueAt } from '../../api/json.ts'
import type { Kind, SearchHit } from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { GWEI_DECIMALS } from '../../parts/format.ts'
import { type KnownAddress, useKnown } from '../../parts/names.ts'
import type { Column } from '../../parts/table.tsx'
import { Amount, Coins, dim, Hash, NetworkContext, say, Text, Time } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import { anyOfThese, term } from './ask.ts'
import {
  elementsOf,
  integerOf,
  isAddress,
  type Movement,
  movementOf,
  numberAt,
  timestampOf,
  unitsAt,
  utf8Of,
  ZERO_ADDRESS,
} from './read.ts'

type Optional<T> = T | null | undefined

/** What `show` makes of a value, where there is one. */
export const given = <T,>(value: Optional<T>, show: (value: T) => ComponentChildren): ComponentChildren =>
  value === undefined || value === null ? undefined : show(value)

/** Text of a document, where it has any. */
export const optionalText = (value: Optional<string>, most = 60) =>
  value ? <Text value={value} most={most} /> : undefined
export const briefOf = (value: Optional<string>, most = 60) => <Text value={value ?? ''} most={most} brief />

interface AddressProps {
  value: Optional<string>
  kind?: 'address' | 'token'
  brief?: boolean
}

/** An address that leads to its page, by the name of its contract or token where it has one. */
export const AddressLink = ({ value, ...rest }: AddressProps) => {
  if (typeof value !== 'string' || value === '') return <span class="dim">none</span>
  if (value === ZERO_ADDRESS) return <span title={value}>the zero address</span>
  return isAddress(value) ? <Named value={value} {...rest} /> : <Hash value={value} />
}

const Named = ({ value, kind = 'address', brief = false }: AddressProps & { value: string }) => {
  const known = useKnown(value)
  const name = known?.name ?? known?.symbol
  return (
    <>
      <Hash value={value} kind={kind} name={name} brief={brief} />
      {/* Many contracts have one name, and anybody can take another’s. */}
      {name !== undefined && <code class="dim">…{value.slice(-4)}</code>}
    </>
  )
}

/** A party of a movement: out of nothing, or into it, a token is created or destroyed. */
export const Party = ({ value, zero }: { value: string; zero: string }) =>
  value.toLowerCase() === ZERO_ADDRESS ? (
    <span class="dim" title={value}>
      {zero}
    </span>
  ) : (
    <AddressLink value={value} />
  )

export const BlockLink = ({ number }: { number: number | undefined }) => {
  const network = useContext(NetworkContext)
  return number === undefined ? null : <Link to={hrefOf(network, 'block', String(number)) ?? '/'}>{number}</Link>
}

/** In which block it happened. */
export const inBlock = (source: SearchHit['_source']) =>
  say`${dim`block`} ${<BlockLink number={numberAt(source, 'blockNumber.num')} />}`

export const Gwei = ({ value }: { value: bigint }) => <Amount value={value} decimals={GWEI_DECIMALS} symbol="Gwei" />

/** Bytes, cut until all of them are asked for. */
export const RawBytes = ({ hex, most = 200 }: { hex: string; most?: number }) => (
  <code class="bytes">
    <Text value={hex} most={most} />
  </code>
)

/** Values by name, such as arguments or topics. */
export const NamedValues = ({
  of,
}: {
  of: readonly (readonly [name: ComponentChildren, value: ComponentChildren])[]
}) =>
  of.length === 0 ? null : (
    <dl class="args">
      {of.map(([name, value], i) => (
        <div key={i}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )

/** The arguments of an event or a call, by name, with their types. */
export const Args = ({ args }: { args: readonly Json[] }) => (
  <NamedValues
    of={args.map((argument, i) => [
      say`${briefOf(textAt(argument, 'name') || `argument ${i}`)} ${dim`${briefOf(textAt(argument, 'value.type'))}`}`,
      <ArgumentValue key={i} argument={argument} />,
    ])}
  />
)

/** Of these, the decimals of the contract are meant; others may be of another token, or no amounts at all. */
const AMOUNT = /^_?(value|amount|wad)$/i

const ArgumentValue = ({ argument }: { argument: Json }) => {
  const [type, hex] = [textAt(argument, 'value.type') ?? '', textAt(argument, 'value.hex')]
  if (hex === undefined) return <span class="dim">not told</span>
  if (type === 'address') return <AddressLink value={hex} />
  if (type === 'bool') return valueAt(argument, 'value.num') === 1 || hex.endsWith('1') ? 'true' : 'false'
  // Of an indexed string, only the hash stands in the log.
  if (type === 'string') return <Text value={utf8Of(hex)} />
  const integer = integerOf(type, hex)
  const scaled = AMOUNT.test(textAt(argument, 'name') ?? '') ? numberAt(argument, 'value.scaled') : undefined
  if (integer !== undefined)
    return (
      <span class="amount">
        {String(integer)}
        {given(scaled, it => dim` ≈ ${it.toLocaleString(undefined, { maximumFractionDigits: 6 })}`)}
      </span>
    )
  const elements = elementsOf(type, hex)
  if (!elements) return <RawBytes hex={hex} />
  return (
    <ol class="elements" start={0}>
      {elements.map((element, i) => (
        <li key={i}>{type.startsWith('address') ? <AddressLink value={element} /> : <Text value={element} />}</li>
      ))}
    </ol>
  )
}

/** What an ERC-721 moves is an id, whatever its argument is called. */
const itemsBy = (items: Movement['items'], known: KnownAddress | undefined): Movement['items'] =>
  items.map(item => {
    if (known?.standard === 'ERC-721' && item.id === undefined) return { id: item.value! }
    if (known?.standard === 'ERC-20' && item.value === undefined) return { value: item.id! }
    return item
  })

/** Amounts and ids, with the token's decimals and symbol. */
export const Moved = ({ movement: { token, items } }: { movement: Movement }) => {
  const known = useKnown(token)
  const isBare = known?.symbol === undefined && known?.decimals === undefined && items.every(it => it.id === undefined)
  return (
    <span class="moved">
      {itemsBy(items, known).map(({ id, value }, i) => (
        <span key={i}>
          {i > 0 && ', '}
          {given(value, it => (
            <Amount value={it} {...(id === undefined && { decimals: known?.decimals ?? 0, symbol: known?.symbol })} />
          ))}
          {given(id, it => (
            <span class="amount">{`${value === undefined ? '' : ' of '}#${it}`}</span>
          ))}
        </span>
      ))}
      {isBare && dim` smallest units`}
    </span>
  )
}

/** When something happened. */
export const When = ({ hit }: { hit: Pick<SearchHit, '_source'> | undefined }) => (
  <>
    {given(hit && timestampOf(hit._source), time => (
      <Time value={time} />
    ))}
  </>
)

type Columns = readonly Column<SearchHit>[]
type Cell = Column<SearchHit>['cell']

const addressAt =
  (...paths: string[]): Cell =>
  ({ _source }) => <AddressLink value={paths.map(path => textAt(_source, path)).find(it => it !== undefined)} />

const says =
  (
    isFailed: (source: SearchHit['_source']) => boolean,
    what: (source: SearchHit['_source']) => string,
    most = 200,
  ): Cell =>
  ({ _source }) => (
    <>
      {isFailed(_source) && <span class="bad">failed </span>}
      <Text value={what(_source)} most={most} brief />
    </>
  )

const ofMovement =
  (show: (movement: Movement) => ComponentChildren, otherwise?: Cell): Cell =>
  hit => {
    const movement = movementOf(hit)
    return movement ? show(movement) : otherwise?.(hit)
  }

const TIME: Columns = [
  { title: 'Time', width: '17ch', cell: it => given(timestampOf(it._source), time => <Time value={time} brief />) },
]

/** Where it happened. */
const PLACE_COLUMNS: Columns = [
  ...TIME,
  {
    title: 'Block',
    width: '9ch',
    align: 'right',
    cell: ({ _source }) => <BlockLink number={numberAt(_source, 'blockNumber.num')} />,
  },
  {
    title: 'Transaction',
    width: '16ch',
    cell: ({ _type, _id, _source }) => (
      <Hash value={_type === 'tx' ? _id : (textAt(_source, 'transactionHash') ?? '')} kind="tx" />
    ),
  },
]
const FROM = { title: 'From', width: '16ch', cell: addressAt('from') }
const VALUE = {
  title: 'Value',
  width: 'minmax(12ch, 1fr)',
  align: 'right',
  cell: ({ _source }: SearchHit) => given(unitsAt(_source, 'value'), units => <Coins value={units} />),
} as const

/** How documents are listed: what they are asked for, and what is shown of them. */
export interface DocumentList {
  label: string
  kinds: readonly Kind[]
  fields: readonly string[]
  columns: Columns
  /** Where a row leads by a click or Enter: its transaction by default. */
  leads?: string
}

const HEIGHT = ['blockNumber', 'timestamp', 'transactionHash']

export const DOCUMENT_LISTS = {
  transactions: {
    label: 'Transactions',
    kinds: ['tx'],
    fields: [...HEIGHT, 'hash', 'from', 'to', 'contractAddress', 'value', 'method', 'status', 'error'],
    columns: [
      ...PLACE_COLUMNS,
      FROM,
      { title: 'To', width: '16ch', cell: addressAt('to', 'contractAddress') },
      {
        title: 'What',
        width: 'minmax(16ch, 2fr)',
        cell: says(
          ({ status }) => status === false,
          source => {
            const what = textAt(source, 'method') ?? (valueAt(source, 'to') === null ? 'creates a contract' : '')
            return [what, textAt(source, 'error')].filter(Boolean).join(' · ')
          },
          100,
        ),
      },
      VALUE,
    ],
  },
  calls: {
    label: 'Calls',
    kinds: ['call'],
    fields: [...HEIGHT, 'from', 'to', 'value', 'method', 'str', 'selector', 'callType', 'reverted'],
    columns: [
      ...PLACE_COLUMNS,
      FROM,
      { title: 'To', width: '16ch', cell: addressAt('to') },
      {
        title: 'What',
        width: 'minmax(20ch, 3fr)',
        cell: says(
          ({ reverted }) => reverted === true,
          source => textAt(source, 'str') ?? textAt(source, 'selector') ?? 'without call data',
        ),
      },
      VALUE,
    ],
  },
  events: {
    label: 'Events',
    kinds: ['event'],
    fields: [...HEIGHT, 'address', 'event', 'str', 'signature', 'data', 'logIndex'],
    columns: [
      ...PLACE_COLUMNS,
      { title: 'Contract', width: '16ch', cell: addressAt('address') },
      {
        title: 'Event',
        width: 'minmax(24ch, 3fr)',
        cell: it => briefOf(textAt(it._source, 'str') ?? textAt(it._source, 'event') ?? 'not decoded', 300),
      },
    ],
  },
  movements: {
    label: 'Movements',
    kinds: ['event'],
    fields: [...HEIGHT, 'address', 'event', 'args', 'logIndex'],
    columns: [
      ...PLACE_COLUMNS,
      { title: 'From', width: '16ch', cell: ofMovement(it => <Party value={it.from} zero="created" />) },
      { title: 'To', width: '16ch', cell: ofMovement(it => <Party value={it.to} zero="destroyed" />) },
      {
        title: 'Amount',
        width: 'minmax(18ch, 1fr)',
        cell: ofMovement(
          movement => <Moved movement={movement} />,
          it => <span class="dim">{String(valueAt(it._source, 'event') ?? '')} with other arguments</span>,
        ),
      },
      { title: 'Token', width: '18ch', cell: ofMovement(it => <AddressLink value={it.token} kind="token" />) },
    ],
  },
  created: {
    label: 'Created contracts',
    kinds: ['contract'],
    fields: ['address', 'name', 'standard', 'transactionHash', 'blockNumber', 'timestamp'],
    columns: [
      ...PLACE_COLUMNS,
      { title: 'Contract', width: '18ch', cell: addressAt('address') },
      { title: 'Standard', cell: it => briefOf(textAt(it._source, 'standard'), 200) },
    ],
    leads: 'address',
  },
  blocks: {
    label: 'Blocks',
    kinds: ['block'],
    fields: ['number', 'timestamp', 'gasUsed'],
    columns: [
      ...TIME,
      { title: 'Block', cell: ({ _source }) => <BlockLink number={numberAt(_source, 'number.num')} /> },
    ],
    leads: 'block',
  },
} as const satisfies Record<string, DocumentList>

export const MOVING = { terms: { 'event.raw': ['Transfer', 'TransferSingle', 'TransferBatch'] } }

/** Movements from or to an address. */
export const movementsOf = (address: string) => ({
  bool: { filter: [MOVING, { nested: { path: 'args', query: anyOfThese(term('args.value.hex', address)) } }] },
})
