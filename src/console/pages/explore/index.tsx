import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAsk, useLive } from '../../api/ask.ts'
import { getDocument, getStatus } from '../../api/index.ts'
import { isObject, type Json, toJson } from '../../api/json.ts'
import { KINDS, type SearchAnswer, type Status } from '../../api/wire.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Chart } from '../../parts/chart.tsx'
import { CheckField, Tabs } from '../../parts/controls.tsx'
import { plain } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Table } from '../../parts/table.tsx'
import { Hash, Text, Time } from '../../parts/text.tsx'
import { useKey } from '../../shell/keys.ts'
import { Link, setQuery } from '../../shell/router.tsx'
import { AskBox, askSuggestions } from './ask-box.tsx'
import { Builder } from './builder.tsx'
import { getCatalogue, knownValues } from './catalogue.ts'
import { columnsFor } from './columns.tsx'
import { Dsl } from './dsl.tsx'
import { type Catalogue, sortPath } from './fields.ts'
import { useKnown } from './known.ts'
import { choose, type Question } from './query.ts'
import {
  type Draft,
  isFirstSight,
  type Search,
  seriesOf,
  setKinds,
  useAsked,
  useDraft,
  useFollow,
  useHits,
  useSearch,
  withNews,
} from './state.ts'
import { Toolbar } from './toolbar.tsx'

const STATUS_MS = 10_000

/** Searches, with all of their state in the address. */
const Explore = () => {
  const status = useLive('status', getStatus, STATUS_MS)
  const networks = status.data?.networks.map(({ network }) => network) ?? []
  const search = useSearch(networks)
  if (status.error !== undefined && !status.data)
    return <Fault title="The networks cannot be read" error={status.error} again={status.again} />
  if (!status.data) return <Busy label="Reading which networks there are" />
  if (search.network === '')
    return (
      <Empty title="There is no network yet">
        <p>
          Start the server with a node, or import blocks: <code>chainsieve serve --network T/B/N --rpc URL</code>
        </p>
      </Empty>
    )
  const reasons = status.data.reasons?.filter(({ network }) => network === search.network) ?? []
  return <Page search={search} networks={networks} reasons={reasons} />
}

export default Explore

interface ExploreProps {
  search: Search
  networks: readonly string[]
  /** Why the network is not live. */
  reasons: NonNullable<Status['reasons']>
}

const Page = ({ search, networks, reasons }: ExploreProps) => {
  const { network, kinds, columns, view, sort, from, to, follows, open } = search
  const [isWanted, setWanted] = useState(false)
  const needsFields = isWanted || view !== '' || sort !== undefined || columns.some(name => !name.startsWith('@'))
  const fields = useAsk(needsFields ? network : undefined, signal => getCatalogue(network, signal))
  const catalogue = fields.data
  const { question, asked, error } = useAsked(search, catalogue)
  const draft = useDraft(search.text, kinds)
  const usual = useHits(network, kinds, asked)
  // A chain may have no transactions yet.
  const isBare = isFirstSight(search)
  const isWithout = isBare && usual.data?.hits.total === 0
  const blocks = useHits(isWithout ? network : undefined, ['block'], asked)
  const hasBlocks = isWithout && blocks.hits.length > 0
  const found = hasBlocks ? blocks : usual
  const news = useFollow(network, hasBlocks ? ['block'] : kinds, asked, follows, found.again)
  const hits = useMemo(() => withNews(found.hits, news), [found.hits, news.hits, news.gone])
  const fresh = hits.length - found.hits.length
  const series = useMemo(() => seriesOf(found.data, hits.slice(0, Math.max(fresh, 0))), [found.data, fresh])
  const nameOf = useKnown(network, hits)
  const box = useKeptPlace(hits.length, news.hits)
  const [openKind = '', openId = ''] = open.split(/ (.*)/s)

  return (
    <div class="explore">
      <h1 class="skip">Explore</h1>
      <AskBox
        draft={draft}
        networks={networks}
        network={network}
        onNeeds={needs => needs.some(kind => kinds.includes(kind)) || setKinds([...kinds, ...needs])}
      />
      {reasons.map(({ type, reason, since }) => (
        <p class="notice" key={type}>
          Not live: {plain(reason)}
          {since !== undefined && (
            <>
              , since <Time value={since} />
            </>
          )}
          . <Link to="/status">Show the status</Link>
        </p>
      ))}
      {search.text === '' && network === DEMO && <Tries />}
      <div class="choices">
        <Kinds search={search} />
        <Toolbar
          search={search}
          asked={asked}
          total={(found.data?.hits.total ?? 0) + fresh}
          catalogue={catalogue}
          onWanted={() => setWanted(true)}
        />
      </div>
      {fields.error !== undefined && (
        <Fault title="The fields cannot be read" error={fields.error} again={fields.again} />
      )}
      <Views search={search} draft={draft} catalogue={catalogue} />
      {error !== undefined && <Fault error={error} />}
      {kinds.length === 0 && <Empty title="Choose at least one kind of documents" />}
      {found.error !== undefined && <Fault title="The search failed" error={found.error} again={found.again} />}
      {news.error !== undefined && <Fault title="The chain cannot be followed" error={news.error} />}
      {asked && question && found.error === undefined && (
        <>
          <Sum
            question={question}
            answer={found.data}
            news={fresh}
            follows={follows}
            busy={found.busy}
            isCut={from !== '' || to !== ''}
          />
          {series && (
            <Chart
              label={`Hits over time, ${series.counts.length} spans`}
              series={series}
              onSelect={(from, to) =>
                setQuery({ from: String(Math.floor(from * 1000)), to: String(Math.ceil(to * 1000)) })
              }
            />
          )}
          {hasBlocks && (
            <p class="dim" role="status">
              No transactions and events so far: these are the blocks.
            </p>
          )}
          {found.moreError !== undefined && <Fault title="Further hits cannot be read" error={found.moreError} />}
          {found.data?.hits.total === 0 && hits.length === 0 && <Nothing search={search} />}
          <div class="found" ref={box}>
            {hits.length > 0 && (
              <Table
                label="Hits"
                columns={columnsFor({
                  search,
                  nameOf,
                  canSort: field => catalogue !== undefined && sortPath(catalogue, field) !== undefined,
                })}
                rows={hits}
                keyOf={({ _type, _id }) => `${_type} ${_id}`}
                open={open}
                onOpen={({ _type, _id }) => setQuery({ open: `${_type} ${_id}` }, { replace: open !== '' })}
                onEnd={found.askMore}
              />
            )}
            {openId !== '' && (
              <Opened network={network} kind={openKind} id={openId} onClose={() => setQuery({ open: '' })} />
            )}
          </div>
        </>
      )}
    </div>
  )
}

const Kinds = ({ search: { kinds } }: { search: Search }) => (
  <fieldset>
    <legend class="skip">Kinds of documents</legend>
    {KINDS.map(kind => (
      <CheckField
        key={kind}
        label={kind}
        checked={kinds.includes(kind)}
        onChange={checked => setKinds(KINDS.filter(it => (it === kind ? checked : kinds.includes(it))))}
      />
    ))}
  </fieldset>
)

/** Who has scrolled down goes on reading where they are, whatever comes in at the top. */
const useKeptPlace = (count: number, news: unknown) => {
  const box = useRef<HTMLDivElement>(null)
  const before = useRef({ count, news })
  useLayoutEffect(() => {
    const table = box.current?.querySelector('.table')
    const rows = table?.querySelector('.rows')
    const added = count - before.current.count
    if (table && rows && before.current.news !== news && added > 0 && table.scrollTop > 0)
      table.scrollTop += (rows.clientHeight / count) * added
    before.current = { count, news }
  }, [count, news])
  return box
}

interface Try {
  title: string
  query: Readonly<Record<string, string>>
}

const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'

/** Searches of the demo chain, each of which shows something else. */
const TRIES: readonly Try[] = [
  {
    title: 'Transfers of the demo dollar above 1,000',
    query: {
      kinds: 'event',
      view: 'conditions',
      q: JSON.stringify({
        bool: {
          filter: [
            { term: { 'event.raw': 'Transfer' } },
            { match: { address: DOLLAR } },
            {
              nested: {
                path: 'args',
                query: {
                  bool: {
                    filter: [{ term: { 'args.name': 'value' } }, { range: { 'args.value.scaled': { gt: '1000' } } }],
                  },
                },
              },
            },
          ],
        },
      }),
    },
  },
  { title: 'Everything about one token', query: { kinds: 'tx,event,log,call,contract,token', q: DOLLAR } },
  {
    title: 'Failed transactions, the dearest first',
    query: { kinds: 'tx', q: 'status:false', sort: 'gasUsed:desc', columns: '@time,@block,@thing,@what,gasUsed' },
  },
  { title: 'Swaps, in Lucene’s syntax', query: { kinds: 'event', q: 'event:Swap AND blockNumber.num:>100' } },
  { title: 'All that is in block 400', query: { kinds: 'block,tx,event,call', q: '400' } },
]

export const DEMO = 'ethereum/demo/local'

export const Tries = () => (
  <ul class="tries" aria-label="Examples to try">
    {TRIES.map(({ title, query }) => (
      <li key={title}>
        <Link to={`/explore?${new URLSearchParams(query)}`}>{title}</Link>
      </li>
    ))}
  </ul>
)

interface ViewsProps {
  search: Search
  draft: Draft
  catalogue: Catalogue | undefined
}

const VIEWS = [
  { name: 'conditions', title: 'Conditions' },
  { name: 'json', title: 'JSON' },
] as const

/** Further views of the query in the box, each open or not. */
export const Views = ({ search, draft, catalogue }: ViewsProps) => {
  const { network, kinds, view } = search
  const open = VIEWS.filter(({ name }) => view.split(',').includes(name)).map(({ name }) => name)
  const toggle = (name: string) => {
    const next = VIEWS.map(it => it.name).filter(it => (it === name) !== open.includes(it))
    setQuery({ view: next.join() }, { replace: true })
  }
  const values = useMemo(() => catalogue && knownValues(network, kinds, catalogue), [network, kinds.join(), catalogue])
  return (
    <div class="views">
      <div class="toggles">
        {VIEWS.map(({ name, title }) => (
          <button key={name} type="button" aria-expanded={open.includes(name)} onClick={() => toggle(name)}>
            {title}
          </button>
        ))}
      </div>
      {open.length > 0 && !(catalogue && values) && <Busy label="Reading which fields there are" />}
      {catalogue && values && open.includes('conditions') && (
        <Builder draft={draft} catalogue={catalogue} kinds={kinds} values={values} />
      )}
      {catalogue && values && open.includes('json') && (
        <Dsl draft={draft} network={network} kinds={kinds} catalogue={catalogue} values={values} />
      )}
    </div>
  )
}

interface SumProps {
  question: Question
  answer: SearchAnswer | undefined
  /** Hits that came since. */
  news: number
  follows: boolean
  busy: boolean
  isCut: boolean
}

/** How many were found, in what time, and as what the text in the box was understood. */
export const Sum = ({ question, answer, news, follows, busy, isCut }: SumProps) => {
  const total = answer && answer.hits.total + news
  return (
    <p class="sum" role="status">
      {busy && <span class="dim">Searching …</span>}
      {answer && !busy && (
        <span>
          <strong>{total!.toLocaleString()}</strong> {total === 1 ? 'hit' : 'hits'} in {answer.took.toLocaleString()} ms
        </span>
      )}
      <span class="dim">Asked for {question.as}.</span>
      {follows && <span class="good">Follows the chain: {news.toLocaleString()} new.</span>}
      {isCut && (
        <button type="button" class="link" onClick={() => setQuery({ from: '', to: '' })}>
          Show the whole time
        </button>
      )}
    </p>
  )
}

/** In place of hits: what may have been meant. */
export const Nothing = ({ search: { network, text, kinds } }: { search: Search }) => {
  const isWord = /^[\p{L}\p{N}_$ -]{2,60}$/u.test(text)
  const { data = [] } = useAsk(isWord ? `${network} ${text}` : undefined, signal =>
    askSuggestions(network, text, signal),
  )
  const offers = isWord ? data.filter(({ kind }) => kind !== 'field') : []
  return (
    <Empty title="Nothing was found">
      {offers.length > 0 && (
        <>
          <p>You may mean:</p>
          <ul>
            {offers.map(offer => (
              <li key={`${offer.kind} ${offer.field} ${offer.text} ${offer.address}`}>
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    const { text, needs } = choose('', 0, offer)
                    const all = [...new Set([...kinds, ...needs])]
                    setQuery({ q: offer.address ?? text, kinds: all.join() })
                  }}
                >
                  {plain(offer.text)}
                </button>{' '}
                <span class="dim">{offer.kind}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>Choose further kinds, or ask for less. An empty box shows the newest documents.</p>
    </Empty>
  )
}

/** One hit with all of its fields. */
export const Opened = ({
  network,
  kind,
  id,
  onClose,
}: {
  network: string
  kind: string
  id: string
  onClose(): void
}) => {
  const { data, error, again } = useAsk(`${network} ${kind} ${id}`, signal => getDocument(network, kind, id, signal))
  const [tab, setTab] = useState<'fields' | 'json'>('fields')
  useKey('Escape', 'Closes the hit', onClose)
  const isShown = data?._id === id
  return (
    <aside class="opened" aria-label="The open hit">
      <header>
        <h2>
          {kind} <Hash value={id} />
        </h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      {error !== undefined && <Fault error={error} again={again} />}
      {!isShown && error === undefined && <Busy label="Reading the document" />}
      {isShown && (
        <Tabs label="How it is shown" tabs={TABS} current={tab} onChange={name => setTab(name)}>
          {tab === 'fields' ? <Fields source={data._source} /> : <JsonView value={data._source} label="The document" />}
        </Tabs>
      )}
    </aside>
  )
}

const TABS = [
  { name: 'fields', title: 'Fields' },
  { name: 'json', title: 'JSON' },
] as const

const Fields = ({ source }: { source: Json }) => (
  <dl class="fields">
    {leavesOf(source, '').flatMap(([path, value]) => [
      <dt key={path}>{path}</dt>,
      <dd key={`${path} value`}>
        <Text value={typeof value === 'string' ? value : toJson(value)} />
      </dd>,
    ])}
  </dl>
)

/** The values by their path; a list is one value. */
const leavesOf = (value: Json, path: string): [path: string, value: Json][] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path === '' ? name : `${path}.${name}`))
    : [[path, value]]
