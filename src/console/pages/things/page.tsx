import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { useAsk } from '../../api/ask.ts'
import { getDocument, getStatus, search } from '../../api/index.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Hit, Kind, NetworkStatus } from '../../api/wire.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { plain } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Hash, short, Text } from '../../parts/text.tsx'
import { hrefOf, type PageProps } from '../../routes.ts'
import { useKey } from '../../shell/keys.ts'
import { Link, navigate } from '../../shell/router.tsx'
import { NEWEST, useList } from './ask.ts'
import { isAddress, isHash } from './read.ts'

export interface ThingProps {
  network: string
  id: string
}

/** A page of one thing, which begins anew when its address leads to another one. */
export const thingPage =
  (Content: FunctionComponent<ThingProps>): FunctionComponent<PageProps> =>
  ({ parameters }) => {
    const parts = ['technology', 'blockchain', 'network'].map(name => parameters.get(name) ?? '')
    const id = parameters.get('id') ?? ''
    // A path of dots would lead the question elsewhere.
    if (parts.some(part => /^\.*$/.test(part))) return <Empty title="There is no such network" />
    const network = parts.map(encodeURIComponent).join('/')
    return (
      <div class="thing">
        <Content key={`${network} ${id}`} network={network} id={id} />
      </div>
    )
  }

interface HeadProps extends ThingProps {
  /** Such as `Block`. */
  what: string
  /** Shown instead of the id. */
  name?: ComponentChildren
  /** What the window is called by, instead of the id. */
  title?: string
  /** Kinds in which Explore looks for it. */
  kinds: string
  children?: ComponentChildren
}

export const Head = ({ network, id, what, name, title, kinds, children }: HeadProps) => {
  const called = plain(title ?? short(id)).slice(0, 60)
  useEffect(() => {
    document.title = `${what} ${called} · Chainsieve`
  }, [what, called])
  const query = new URLSearchParams({ network, q: id, kinds })
  return (
    <header class="thing-head">
      <h1>
        {what} {name ?? <Hash value={id} />}
      </h1>
      {children}
      <p class="dim">
        <span>{network}</span> <Link to={`/explore?${query}`}>Find in Explore</Link>
      </p>
    </header>
  )
}

interface StepProps {
  network: string
  kind: 'block' | 'tx'
  /** Such as `block` or `of the sender`. */
  what: string
  previous: string | undefined
  next: string | undefined
  keys: readonly [previous: string, next: string]
}

/** Leads to the neighbours, as far as they are held. */
export const Neighbours = ({ network, kind, what, previous, next, keys }: StepProps) => {
  const lead = (id: string | undefined) => () => {
    const href = id === undefined ? undefined : hrefOf(network, kind, id)
    if (href !== undefined) navigate(href)
  }
  useKey(keys[0], `Previous ${what}`, lead(previous))
  useKey(keys[1], `Next ${what}`, lead(next))
  const link = (id: string | undefined, text: string) => {
    const href = id === undefined ? undefined : hrefOf(network, kind, id)
    return href === undefined ? <span class="dim">{text}</span> : <Link to={href}>{text}</Link>
  }
  return (
    <nav class="neighbours" aria-label={`Neighbours: ${what}`}>
      {link(previous, `← Previous ${what}`)}
      {link(next, `Next ${what} →`)}
    </nav>
  )
}

interface ListProps {
  network: string
  label: string
  kinds: readonly Kind[]
  query: JsonObject
  columns: readonly Column<Hit>[]
  /** What a document is asked for. */
  fields: readonly string[]
  sort?: readonly JsonObject[]
  /** In place of an empty list. */
  none: ComponentChildren
  /** Where a row leads by a click or Enter: its transaction by default. */
  thingOf?(hit: Hit): { kind: string; id: string }
}

const transactionOf = ({ _type, _id, _source }: Hit) => ({
  kind: 'tx',
  id: _type === 'tx' ? _id : String(_source.transactionHash),
})

/** A list without an end. */
export const List = (props: ListProps) => {
  const { network, label, kinds, query, columns, fields, sort = NEWEST, none, thingOf = transactionOf } = props
  const found = useList(network, kinds, query, { sort: [...sort], _source: [...fields] })
  if (found.error !== undefined)
    return <Fault title={`${label} cannot be read`} error={found.error} again={found.again} />
  if (found.data === undefined) return <Busy label={`Reading ${label.toLowerCase()}`} />
  if (found.total === 0) return <Empty title={`${label}: none`}>{none}</Empty>
  return (
    <>
      {found.moreError !== undefined && <Fault title="The rest cannot be read" error={found.moreError} />}
      <Table
        label={label}
        columns={columns}
        rows={found.hits}
        keyOf={({ _type, _id }) => `${_type} ${_id}`}
        onOpen={hit => {
          const { kind, id } = thingOf(hit)
          const href = hrefOf(network, kind, id)
          if (href !== undefined) navigate(href)
        }}
        onEnd={found.askMore}
      />
    </>
  )
}

interface MissingProps extends ThingProps {
  /** Such as `transaction`. */
  what: string
  /** Kinds that were looked through. */
  kinds: readonly Kind[]
  /** What an id has to look like; shown where it does not. */
  form: string
  isFormed: boolean
  children?: ComponentChildren
}

const CAPITAL = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** In place of a thing that is not held: says where it was looked, and what else has this id. */
export const Missing = ({ network, id, what, kinds, form, isFormed, children }: MissingProps) => (
  <>
    <Head
      network={network}
      id={id}
      what={CAPITAL(what)}
      kinds={kinds.join()}
      name={<Text value={id} most={80} brief />}
    />
    <section class="missing" aria-label="Not found">
      <h2>{isFormed ? `This ${what} is not held` : `This does not name a ${what}`}</h2>
      {!isFormed && <p>{form}</p>}
      {isFormed && <Looked network={network} kinds={kinds} />}
      {isFormed && <Elsewhere network={network} id={id} />}
      {children}
    </section>
  </>
)

/** Which kinds and which blocks were looked through. */
export const Looked = ({ network, kinds }: { network: string; kinds: readonly Kind[] }) => {
  const status = useAsk('status', getStatus)
  if (status.error !== undefined && !status.data)
    return <Fault title="The status cannot be read" error={status.error} again={status.again} />
  if (!status.data) return <Busy label="Reading which blocks are held" />
  const held = status.data.networks.find(it => it.network === network)
  if (!held)
    return (
      <p>
        This server has no network {network}. It has {status.data.networks.map(it => it.network).join(', ') || 'none'}.
      </p>
    )
  return (
    <>
      <p>
        Looked in {kinds.join(' and ')} documents of {network}, {rangesOf(held)}.
      </p>
      {held.head !== null && held.head !== undefined && <p>The newest block of the chain is {count(held.head)}.</p>}
      {held.ranges.length > 1 && <p>Between these ranges are gaps: what is in a gap is not found.</p>}
      <p>What is not mined yet, or stands in a block outside of these, is not found here.</p>
    </>
  )
}

const count = (value: number) => value.toLocaleString()
const MOST_RANGES = 8

const rangesOf = ({ ranges }: NetworkStatus): string => {
  if (ranges.length === 0) return 'which holds no blocks yet'
  const shown = ranges
    .slice(-MOST_RANGES)
    .map(({ from, to }) => (from === to ? count(from) : `${count(from)} to ${count(to)}`))
  const more = ranges.length - shown.length
  return `blocks ${shown.join(', ')}${more > 0 ? ` and ${count(more)} ranges below` : ''}`
}

/** Other networks that are asked, at most. */
const MOST_NETWORKS = 10

/** Things of another kind or network that have this id. */
const Elsewhere = ({ network, id }: ThingProps) => {
  const kinds: Kind[] | undefined = isHash(id) ? ['block', 'tx'] : isAddress(id) ? ['contract', 'token'] : undefined
  const found = useAsk(kinds && `elsewhere ${network} ${id}`, async signal => {
    const { networks } = await getStatus(signal)
    const names = networks.map(it => it.network).filter(name => name !== network)
    const query = { ids: { values: [id] } }
    const look = (name: string) =>
      search(name, kinds!, { query, _source: false, size: 4 }, signal).then(
        ({ hits }) => hits.hits.map(hit => ({ name, hit })),
        () => [],
      )
    return (await Promise.all([network, ...names.slice(0, MOST_NETWORKS)].map(look))).flat()
  })
  if (!found.data || found.data.length === 0) return null
  return (
    <ul>
      {found.data.map(({ name, hit }) => (
        <Other key={`${name} ${hit._type}`} network={name} hit={hit} />
      ))}
    </ul>
  )
}

const KIND_NAMES: Record<string, string> = {
  block: 'a block',
  tx: 'a transaction',
  contract: 'a contract',
  token: 'a token',
}

const Other = ({ network, hit: { _type, _id } }: { network: string; hit: Hit }) => {
  const href = hrefOf(network, _type === 'contract' ? 'address' : _type, _id)
  return (
    <li>
      It is the id of {href ? <Link to={href}>{KIND_NAMES[_type] ?? _type}</Link> : _type} of {network}.
    </li>
  )
}

/** The whole document, as the server has it. */
export const WholeDocument = ({ network, kind, id }: { network: string; kind: Kind; id: string }) => {
  const { data, error, again } = useAsk(`${network} ${kind} ${id}`, signal => getDocument(network, kind, id, signal))
  if (error !== undefined) return <Fault error={error} again={again} />
  return data ? <JsonView value={data._source} label="The document" /> : <Busy label="Reading the document" />
}
