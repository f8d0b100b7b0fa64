import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import { type Json, textAt, valueAt } from '../../api/json.ts'
import type { Kind, SearchHit } from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { GWEI_DECIMALS, shortHex } from '../../parts/format.ts'
import { type KnownAddress, useKnown } from '../../parts/names.ts'
import type { Column } from '../../parts/table.tsx'
import { Amount, Coins, dim, Hash, NetworkContext, say, Text, Time } from '../../parts/text.tsx'
import { hrefOf } from '../../routes.ts'
import { anyOfThese, term } from './ask.ts'
import {
  argumentInteger,
  elementsOf,
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

/** Renders a value if present. */
export const ifPresent = <T,>(value: Optional<T>, show: (value: T) => ComponentChildren): ComponentChildren =>
  value === undefined || value === null ? undefined : show(value)

/** Text if present. */
export const optionalText = (value: Optional<string>, most = 60) =>
  value ? <Text value={value} most={most} /> : undefined
export const briefOf = (value: Optional<string>, most = 60) => <Text value={value ?? ''} most={most} brief />

interface AddressProps {
  value: Optional<string>
  kind?: 'address' | 'token'
  /** Without a copy button. */
  brief?: boolean
  /** The name or the short address alone, for lines with many. */
  bare?: boolean
}

/** Links an address by its contract or token name. */
export const AddressLink = ({ value, ...rest }: AddressProps) => {
  if (typeof value !== 'string' || value === '') return <span class="dim">none</span>
  if (value === ZERO_ADDRESS) return <span title={value}>the zero address</span>
  return isAddress(value) ? <Named value={value} {...rest} /> : <Hash value={value} />
}

const Named = ({ value, kind = 'address', bare = false, brief = bare }: AddressProps & { value: string }) => {
  const known = useKnown(value)
  const [short, long] = [known?.symbol, known?.name]
  const name = bare ? (short ?? long) : (long ?? short)
  return (
    <>
      <Hash value={value} kind={kind} name={name} brief={brief} />
      {/* Names are not unique and can be faked. */}
      {name !== undefined && !bare && <code class="dim">…{value.slice(-4)}</code>}
    </>
  )
}

/** Party of a transfer; the zero address means minting or burning. */
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

export const inBlock = (source: SearchHit['_source']) =>
  say`${dim`block`} ${<BlockLink number={numberAt(source, 'blockNumber.num')} />}`

export const Gwei = ({ value }: { value: bigint }) => <Amount value={value} decimals={GWEI_DECIMALS} symbol="Gwei" />

export const RawBytes = ({ hex, most = 200 }: { hex: string; most?: number }) => (
  <code class="bytes">
    <Text value={hex} most={most} />
  </code>
)

/** Named values such as arguments or topics. */
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

export const argumentName = (argument: Json, place: number) => textAt(argument, 'name') || `argument ${place}`

interface ArgsProps {
  args: readonly Json[]
  /** The contract that was called or that emitted the event. */
  of?: string | undefined
}

/** Arguments with names and types. */
export const Args = ({ args, of }: ArgsProps) => (
  <NamedValues
    of={args.map((argument, i) => [
      say`${briefOf(argumentName(argument, i))} ${dim`${briefOf(textAt(argument, 'value.type'))}`}`,
      <ArgumentValue key={i} {...{ argument, of }} />,
    ])}
  />
)

/** Arguments in the contract's decimals; others may be in another token's. */
const AMOUNT = /^_?(value|amount|wad)$/i

interface ArgumentProps extends Pick<ArgsProps, 'of'> {
  argument: Json
  /** On one line. */
  brief?: boolean
}

export const ArgumentValue = ({ argument, of = '', brief = false }: ArgumentProps) => {
  const known = useKnown(of)
  const [type, hex] = [textAt(argument, 'value.type') ?? '', textAt(argument, 'value.hex')]
  if (hex === undefined) return <span class="dim">not told</span>
  if (type === 'address') return <AddressLink value={hex} bare={brief} />
  if (type === 'bool') return valueAt(argument, 'value.num') === 1 || hex.endsWith('1') ? 'true' : 'false'
  // Indexed strings are logged as hashes.
  if (type === 'string') return <Text value={utf8Of(hex)} {...(brief && { most: 40, brief })} />
  const integer = argumentInteger(type, hex)
  if (integer !== undefined) {
    const decimals = AMOUNT.test(textAt(argument, 'name') ?? '') ? decimalsIn(argument, integer) : 0
    return <Amount value={integer} {...{ decimals, brief }} symbol={decimals > 0 ? known?.symbol : undefined} />
  }
  const elements = elementsOf(type, hex)
  if (brief) return dim`${elements ? `[${elements.length}]` : shortHex(hex)}`
  if (!elements) return <RawBytes hex={hex} />
  return (
    <ol class="elements" start={0}>
      {elements.map((element, i) => (
        <li key={i}>{type.startsWith('address') ? <AddressLink value={element} /> : <Text value={element} />}</li>
      ))}
    </ol>
  )
}

/** The server scales amounts by the contract's decimals. */
const decimalsIn = (argument: Json, units: bigint): number => {
  const scaled = numberAt(argument, 'value.scaled')
  return scaled ? Math.round(Math.log10(Number(units) / scaled)) : 0
}

/** ERC-721 moves ids, whatever the argument's name. */
const itemsBy = (items: Movement['items'], known: KnownAddress | undefined): Movement['items'] =>
  items.map(item => {
    if (known?.standard === 'ERC-721' && item.id === undefined) return { id: item.value! }
    if (known?.standard === 'ERC-20' && item.value === undefined) return { value: item.id! }
    return item
  })

interface MovedProps {
  movement: Pick<Movement, 'token' | 'items'>
  /** Rounds amounts. */
  brief?: boolean
}

/** Amounts and ids in the token's unit, with its name. */
export const MovementAmount = ({ movement: { token, items }, brief = false }: MovedProps) => {
  const known = useKnown(token)
  const isBare = known?.symbol === undefined && known?.decimals === undefined && items.every(it => it.id === undefined)
  return (
    <span class="moved">
      {itemsBy(items, known).map(({ id, value }, i) => (
        <span key={i}>
          {i > 0 && ', '}
          {ifPresent(value, it => (
            <Amount value={it} decimals={id === undefined ? (known?.decimals ?? 0) : 0} brief={brief} />
          ))}
          {ifPresent(id, it => (
            <span class="amount" title={String(it)}>{`${value === undefined ? '' : ' of '}#${it}`}</span>
          ))}
        </span>
      ))}{' '}
      {isBare && dim`smallest units of `}
      <Hash value={token} kind="token" name={known?.symbol ?? known?.name} brief />
    </span>
  )
}

export const When = ({ hit }: { hit: Pick<SearchHit, '_source'> | undefined }) => (
  <>
    {ifPresent(hit && timestampOf(hit._source), time => (
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
  { title: 'Time', width: '17ch', cell: it => ifPresent(timestampOf(it._source), time => <Time value={time} brief />) },
]

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
  cell: ({ _source }: SearchHit) => ifPresent(unitsAt(_source, 'value'), units => <Coins value={units} />),
} as const

/** Fields and columns of document lists. */
export interface DocumentList {
  label: string
  kinds: readonly Kind[]
  fields: readonly string[]
  columns: Columns
  /** Page that a row opens; default: its transaction. */
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
            const what = textAt(source, 'method') ?? (valueAt(source, 'to') === null ? 'deploys a contract' : '')
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
  transfers: {
    label: 'Token transfers',
    kinds: ['event'],
    fields: [...HEIGHT, 'address', 'event', 'args', 'logIndex'],
    columns: [
      ...PLACE_COLUMNS,
      { title: 'From', width: '16ch', cell: ofMovement(it => <Party value={it.from} zero="minted" />) },
      { title: 'To', width: '16ch', cell: ofMovement(it => <Party value={it.to} zero="burned" />) },
      {
        title: 'Amount',
        width: 'minmax(18ch, 1fr)',
        align: 'right',
        cell: ofMovement(
          movement => <MovementAmount movement={movement} />,
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

/** Token transfers of an address. */
export const movementsOf = (address: string) => ({
  bool: { filter: [MOVING, { nested: { path: 'args', query: anyOfThese(term('args.value.hex', address)) } }] },
})
