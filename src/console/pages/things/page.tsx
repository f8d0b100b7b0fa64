import type { ComponentChildren, FunctionComponent } from 'preact'
import { useContext, useEffect, useId } from 'preact/hooks'
import { useAsk, useGet } from '../../api/ask.ts'
import { documentPath, getStatus, searchDocuments } from '../../api/client.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Kind, NetworkStatus, SearchAnswer, SearchHit, Status } from '../../api/wire.ts'
import { useKey } from '../../browser/keys.ts'
import { Link, navigate, useQueryState } from '../../browser/router.tsx'
import { Await, Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Select } from '../../parts/controls.tsx'
import { shortHex, visibleText } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import type { Tab } from '../../parts/menu.tsx'
import { PagedList } from '../../parts/table.tsx'
import { Hash, NetworkContext, RoomContext } from '../../parts/text.tsx'
import { hrefOf, type PageProps } from '../../routes.ts'
import { byId, hitsOf, type MultiSearchItem, NEWEST, useList, useSearches } from './ask.ts'
import { isAddress, isHashText } from './read.ts'
import { briefOf, DOCUMENT_LISTS, type DocumentList } from './values.tsx'

export interface ThingProps {
  id: string
}

/** A page of one document, remounted for another id. */
export const thingPage =
  (Content: FunctionComponent<ThingProps>): FunctionComponent<PageProps> =>
  ({ parameters }) => {
    const parts = ['technology', 'blockchain', 'network'].map(name => parameters.get(name) ?? '')
    const id = parameters.get('id') ?? ''
    // Dots would change the request's path.
    if (parts.some(part => /^\.*$/.test(part))) return <Empty title="There is no such network" />
    const network = parts.map(encodeURIComponent).join('/')
    return (
      <NetworkContext.Provider value={network}>
        <div class="thing">
          <Content key={`${network} ${id}`} id={id} />
        </div>
      </NetworkContext.Provider>
    )
  }

/** Name and search of a kind of document. */
interface Thing {
  /** Such as `transaction`. */
  what: string
  /** Searched kinds. */
  kinds: readonly Kind[]
  /** Description of valid ids. */
  form: string
  isFormed(id: string): boolean
  /** The first search finds the document. */
  ask(id: string): MultiSearchItem[]
  /** Advice if it is not stored. */
  elsewhere?: FunctionComponent<ThingProps>
}

interface FoundProps extends ThingProps {
  hit: SearchHit
  answers: readonly SearchAnswer[]
}

/** A page of one document. */
export const documentPage = (thing: Thing, Content: FunctionComponent<FoundProps>) =>
  thingPage(({ id }) => {
    const isFormed = thing.isFormed(id)
    const asked = useSearches(isFormed ? thing.ask(id) : undefined)
    const { data, error, again } = asked
    if (error !== undefined) return <Fault title={`The ${thing.what} cannot be read`} error={error} again={again} />
    if (isFormed && !data) return <Busy label={`Reading the ${thing.what}`} />
    const [hit] = hitsOf(data?.[0])
    return hit ? <Content id={id} hit={hit} answers={data!} /> : <Missing id={id} thing={thing} />
  })

interface HeadProps extends ThingProps {
  /** Such as `Block`. */
  what: string
  /** Default: the id. */
  name?: ComponentChildren
  /** Window title; default: the id. */
  title?: string | undefined
  /** Kinds for Explore. */
  kinds: string
  children?: ComponentChildren
}

export const ThingHeader = ({ id, what, name, title, kinds, children }: HeadProps) => {
  const network = useContext(NetworkContext)
  const called = visibleText(title ?? shortHex(id)).slice(0, 60)
  useEffect(() => {
    document.title = `${what} ${called} · Chainsieve`
  }, [what, called])
  return (
    <header class="thing-head">
      <h1>
        <RoomContext.Provider value>
          {what} {name ?? <Hash value={id} />}
        </RoomContext.Provider>
      </h1>
      {children}
      <Link class="button" to={`/explore?${new URLSearchParams({ network, q: id, kinds })}`} label="Search in Explore">
        <Icon name="search" />
      </Link>
    </header>
  )
}

interface SectionProps {
  title: ComponentChildren
  /** Default: the title. */
  name?: string
  children: ComponentChildren
}

export const Section = ({ title, name = String(title), children }: SectionProps) => (
  <section aria-label={name}>
    <h2>{title}</h2>
    {children}
  </section>
)

interface StepProps {
  kind: 'block' | 'tx'
  /** Such as `block` or `of the sender`. */
  what: string
  previous: string | undefined
  next: string | undefined
  keys: readonly [previous: string, next: string]
}

/** Links to stored neighbours. */
export const Neighbours = ({ kind, what, previous, next, keys }: StepProps) => {
  const network = useContext(NetworkContext)
  const [before, behind] = [previous, next].map(id => id && hrefOf(network, kind, id))
  useKey(keys[0], `Previous ${what}`, () => before && navigate(before))
  useKey(keys[1], `Next ${what}`, () => behind && navigate(behind))
  const link = (href: string | undefined, label: string, arrow: string) =>
    href ? (
      <Link class="button" to={href} label={label} children={arrow} />
    ) : (
      <span class="dim" aria-hidden="true" children={arrow} />
    )
  return (
    <nav class="neighbours" aria-label={`Neighbours: ${what}`}>
      {link(before, `Previous ${what}`, '←')}
      <span class="dim">{what}</span>
      {link(behind, `Next ${what}`, '→')}
    </nav>
  )
}

interface ListProps {
  of: keyof typeof DOCUMENT_LISTS
  label?: string
  query: JsonObject
  sort?: JsonObject[]
  /** Columns to omit as constant. */
  without?: readonly string[]
  /** Shown for an empty list. */
  none?: string
}

const List = ({
  of,
  label = DOCUMENT_LISTS[of].label,
  query,
  sort = NEWEST,
  without = [],
  none = NO_ROWS,
}: ListProps) => {
  const network = useContext(NetworkContext)
  const { kinds, fields, columns, leads }: DocumentList = DOCUMENT_LISTS[of]
  const pages = useList({ kinds, body: { query, sort, _source: [...fields] } })
  const open = ({ _type, _id, _source }: SearchHit) => {
    const id = leads || _type === 'tx' ? _id : String(_source.transactionHash)
    const href = hrefOf(network, leads ?? 'tx', id)
    if (href !== undefined) navigate(href)
  }
  return (
    <PagedList
      {...{ pages, label, what: label.toLowerCase() }}
      columns={columns.filter(({ title }) => !without.includes(title))}
      keyOf={({ _type, _id }) => `${_type} ${_id}`}
      onOpen={open}
      empty={<Empty title={`No ${label.toLowerCase()}`} children={<p>{none}</p>} />}
    />
  )
}

const NO_ROWS = 'There are none in the stored blocks.'

interface Side {
  /** Value in the address. */
  value: string
  title: string
  query: JsonObject
  sort?: JsonObject[]
  count?: number | undefined
}

/** A list with a filter kept in the address. */
const SidedList = ({ sides, ...list }: Omit<ListProps, 'query'> & { sides: readonly Side[] }) => {
  const id = useId()
  const [name, setName] = useQueryState('side')
  const { value, ...side } = sides.find(({ value }) => value === name) ?? sides[0]!
  const options = sides.map(({ value, title, count }) => ({ value, label: titleWithCount(title, count) }))
  return (
    <>
      <div class="choose">
        <label htmlFor={id}>Show</label>{' '}
        <Select id={id} value={value} options={options} onChange={next => setName(next, { replace: true })} />
      </div>
      <List key={`${list.of} ${value}`} {...list} {...side} />
    </>
  )
}

/** Title with a count once known. */
const titleWithCount = (title: string, count: number | undefined): string =>
  count === undefined ? title : `${title} (${count.toLocaleString()})`

type ListTab = Omit<ListProps, 'of' | 'query'> & ({ query: JsonObject } | { sides: readonly Side[] })

/** A tab with a list of documents. */
export const listTab = (of: ListProps['of'], count: number | undefined, list: ListTab): Tab => ({
  name: of,
  title: titleWithCount(list.label ?? DOCUMENT_LISTS[of].label, count),
  show: () => ('sides' in list ? <SidedList of={of} {...list} /> : <List of={of} {...list} />),
})

export const jsonTab = (kind: Kind, id: string): Tab => ({
  name: 'json',
  title: 'JSON',
  show: () => <WholeDocument {...{ kind, id }} />,
})

const WholeDocument = ({ kind, id }: { kind: Kind; id: string }) => {
  const asked = useGet<SearchHit>(documentPath(useContext(NetworkContext), kind, id))
  return (
    <Await asked={asked} busy="Reading the document">
      {({ _source }) => <JsonView value={_source} label="The document" />}
    </Await>
  )
}

/** For a missing document: where it was searched, and what else has this id. */
export const Missing = ({ id, thing }: ThingProps & { thing: Omit<Thing, 'ask'> }) => {
  const { what, kinds, form, elsewhere: More } = thing
  const isFormed = thing.isFormed(id)
  return (
    <>
      <ThingHeader
        id={id}
        what={what.charAt(0).toUpperCase() + what.slice(1)}
        kinds={kinds.join()}
        name={briefOf(id, 80)}
      />
      <section class="missing" aria-label="Not found">
        <h2>{isFormed ? `This ${what} is not stored` : `This is not a valid ${what}`}</h2>
        {isFormed ? <Looked kinds={kinds} /> : <p>{form}</p>}
        {isFormed && <Elsewhere id={id} />}
        {isFormed && More && <More id={id} />}
      </section>
    </>
  )
}

/** Searched kinds and blocks. */
export const Looked = ({ kinds }: { kinds: readonly Kind[] }) => {
  const network = useContext(NetworkContext)
  const asked = useGet<Status>('status')
  return (
    <Await asked={asked} failed="The status cannot be read" busy="Reading which blocks are stored" quiet>
      {({ networks }) => {
        const held = networks.find(it => it.network === network)
        if (!held)
          return (
            <p>
              This server has no network {network}. It has {networks.map(it => it.network).join(', ') || 'none'}.
            </p>
          )
        return (
          <>
            <p>{`Searched ${kinds.join(' and ')} documents of ${network}, ${storedRangesText(held)}.`}</p>
            {typeof held.head === 'number' && <p>The newest block of the chain is {held.head.toLocaleString()}.</p>}
            {held.ranges.length > 1 && <p>Blocks between these ranges are not stored.</p>}
            <p>Pending transactions are not indexed.</p>
          </>
        )
      }}
    </Await>
  )
}

const MOST_RANGES = 8

const storedRangesText = ({ ranges }: NetworkStatus): string => {
  if (ranges.length === 0) return 'which has no blocks yet'
  const show = (value: number) => value.toLocaleString()
  const shown = ranges
    .slice(-MOST_RANGES)
    .map(({ from, to }) => (from === to ? show(from) : `${show(from)} to ${show(to)}`))
  const more = ranges.length - shown.length
  return `blocks ${shown.join(', ')}${more > 0 ? ` and ${show(more)} ranges below` : ''}`
}

const MOST_NETWORKS = 10

/** Documents of other kinds or networks with this id. */
const Elsewhere = ({ id }: ThingProps) => {
  const network = useContext(NetworkContext)
  const kinds: Kind[] | undefined = isHashText(id) ? ['block', 'tx'] : isAddress(id) ? ['contract', 'token'] : undefined
  const found = useAsk(kinds && `elsewhere ${network} ${id}`, async signal => {
    const { networks } = await getStatus(signal)
    const names = networks.map(it => it.network).filter(name => name !== network)
    const { body } = byId(kinds!, id, { _source: false, size: 4 })
    const look = (name: string) =>
      searchDocuments(name, kinds!, body, signal).then(
        ({ hits }) => hits.hits.map(({ _type, _id }) => ({ name, kind: _type, id: _id })),
        () => [],
      )
    return (await Promise.all([network, ...names.slice(0, MOST_NETWORKS)].map(look))).flat()
  })
  if (!found.data || found.data.length === 0) return null
  return (
    <ul>
      {found.data.map(({ name, kind, id }) => (
        <li key={`${name} ${kind}`}>
          It is the id of{' '}
          <Link to={hrefOf(name, kind === 'contract' ? 'address' : kind, id) ?? '/'}>{KIND_NAMES[kind] ?? kind}</Link>{' '}
          of {name}.
        </li>
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
