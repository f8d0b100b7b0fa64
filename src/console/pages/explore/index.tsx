import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAsk, useGet } from '../../api/ask.ts'
import { documentPath } from '../../api/client.ts'
import { isJsonObject, type Json, stringifyJson } from '../../api/json.ts'
import { askSuggestions } from '../../api/suggest.ts'
import { OFFERED_KINDS, type SearchAnswer, type SearchHit } from '../../api/wire.ts'
import { Link, setQuery } from '../../browser/router.tsx'
import { Await, Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Chart } from '../../parts/chart.tsx'
import { InChosenNetwork } from '../../parts/chosen-network.tsx'
import { Aside, Button, CheckField } from '../../parts/controls.tsx'
import { visibleText } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Tabs } from '../../parts/menu.tsx'
import { VirtualTable } from '../../parts/table.tsx'
import { Facts, Hash, say, Text } from '../../parts/text.tsx'
import { AskBox } from './ask-box.tsx'
import { Builder } from './builder.tsx'
import { getCatalogue, knownValues } from './catalogue.ts'
import { columnsFor } from './columns.tsx'
import { DslEditor } from './dsl.tsx'
import { type Catalogue, sortPath } from './fields.ts'
import { applySuggestion, type BoxQuestion } from './query.ts'
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
import { openViews, Toolbar } from './toolbar.tsx'

export default () => (
  <>
    <h1 class="skip">Explore</h1>
    <InChosenNetwork>{network => <ExploreView network={network} />}</InChosenNetwork>
  </>
)

const ExploreView = ({ network }: { network: string }) => {
  const search = useSearch(network)
  const { kinds, columns, view, sort, from, to, follows, open } = search
  const [isWanted, setWanted] = useState(false)
  const needsFields = isWanted || view !== '' || sort !== undefined || columns.some(name => !name.startsWith('@'))
  const fields = useAsk(needsFields ? network : undefined, signal => getCatalogue(network, signal))
  const catalogue = fields.data
  const { question, asked, error } = useAsked(search, catalogue)
  const draft = useDraft(search.text, kinds)
  const usual = useHits(network, kinds, asked)
  // An empty chain is followed, too.
  const isWithout = isFirstSight(search) && usual.data?.hits.total === 0
  const blocks = useHits(isWithout ? network : undefined, ['block'], asked)
  const hasBlocks = isWithout && blocks.rows.length > 0
  const found = hasBlocks ? blocks : usual
  const news = useFollow(network, hasBlocks ? ['block'] : kinds, asked, follows, found.again)
  const hits = useMemo(() => withNews(found.rows, news), [found.rows, news.hits, news.gone])
  const fresh = hits.length - found.rows.length
  const series = useMemo(() => seriesOf(found.data, hits.slice(0, Math.max(fresh, 0))), [found.data, fresh])
  const box = useKeptPlace(hits.length, news.hits)
  const [openKind = '', openId = ''] = open.split(/ (.*)/s)
  const canSort = (field: string) => catalogue !== undefined && sortPath(catalogue, field) !== undefined
  const cut = (from: number, to: number) =>
    setQuery({ from: String(Math.floor(from * 1000)), to: String(Math.ceil(to * 1000)) })

  return (
    <div class="explore">
      <AskBox
        draft={draft}
        network={network}
        onNeeds={needs => needs.some(kind => kinds.includes(kind)) || setKinds([...kinds, ...needs])}
      />
      {search.text === '' && network === DEMO && <Tries />}
      <div class="choices">
        <fieldset class="chips">
          <legend class="skip">Kinds of documents</legend>
          {OFFERED_KINDS.map(kind => (
            <CheckField
              key={kind}
              label={kind}
              checked={kinds.includes(kind)}
              onChange={checked => setKinds(OFFERED_KINDS.filter(it => (it === kind ? checked : kinds.includes(it))))}
            />
          ))}
        </fieldset>
        <Toolbar
          search={search}
          asked={asked}
          total={(found.data?.hits.total ?? 0) + fresh}
          catalogue={catalogue}
          onWanted={() => setWanted(true)}
        />
      </div>
      <Await asked={fields} failed="The fields cannot be read" />
      <Views search={search} draft={draft} catalogue={catalogue} />
      {error !== undefined && <Fault error={error} />}
      {kinds.length === 0 && <Empty title="Choose at least one kind of documents" />}
      {found.error !== undefined && <Fault title="The search failed" error={found.error} again={found.again} />}
      {news.error !== undefined && <Fault title="The chain cannot be followed" error={news.error} />}
      {asked && question && found.error === undefined && (
        <>
          <Sum
            {...{ question, follows, news: fresh, answer: found.data, busy: found.busy }}
            isCut={from !== '' || to !== ''}
          />
          {series && <Chart label={`Hits over time, ${series.counts.length} spans`} series={series} onSelect={cut} />}
          {hasBlocks && (
            <p class="dim" role="status">
              No transactions and events so far: these are the blocks.
            </p>
          )}
          {found.moreError !== undefined && <Fault title="Further hits cannot be read" error={found.moreError} />}
          {found.data?.hits.total === 0 && hits.length === 0 && <Nothing search={search} />}
          <div class="found" ref={box}>
            {hits.length > 0 && (
              <VirtualTable
                label="Hits"
                columns={columnsFor(search, canSort)}
                rows={hits}
                keyOf={({ _type, _id }) => `${_type} ${_id}`}
                open={open}
                onOpen={({ _type, _id }) => setQuery({ open: `${_type} ${_id}` }, { replace: open !== '' })}
                onEnd={found.askMore}
              />
            )}
            {openId !== '' && <Opened network={network} kind={openKind} id={openId} />}
          </div>
        </>
      )}
    </div>
  )
}

/** Keeps the scroll position when rows are added at the top. */
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

const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'
const ABOVE_1000 = {
  bool: { filter: [{ term: { 'args.name': 'value' } }, { range: { 'args.value.scaled': { gt: '1000' } } }] },
}

const TRANSFERS = [
  { term: { 'event.raw': 'Transfer' } },
  { match: { address: DOLLAR } },
  { nested: { path: 'args', query: ABOVE_1000 } },
]

/** Example searches of the demo chain. */
const DEMO_SEARCHES: Record<string, Record<string, string>> = {
  'Transfers of the demo dollar above 1,000': {
    ...{ kinds: 'event', view: 'conditions' },
    q: JSON.stringify({ bool: { filter: TRANSFERS } }),
  },
  'Everything about one token': { kinds: 'tx,event,log,call,contract,token', q: DOLLAR },
  'Failed transactions, most expensive first': {
    ...{ kinds: 'tx', q: 'status:false', sort: 'gasUsed:desc', columns: '@time,@block,@thing,@what,gasUsed' },
  },
  'Swaps, in Lucene’s syntax': { kinds: 'event', q: 'event:Swap AND blockNumber.num:>100' },
  'All that is in block 400': { kinds: 'block,tx,event,call', q: '400' },
}

const DEMO = 'ethereum/demo/local'

const Tries = () => (
  <ul class="tries" aria-label="Examples to try">
    {Object.entries(DEMO_SEARCHES).map(([title, query]) => (
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

/** Optional views of the query. */
const Views = ({ search: { network, kinds, view }, draft, catalogue }: ViewsProps) => {
  const open = openViews(view)
  const values = useMemo(() => catalogue && knownValues(network, kinds, catalogue), [network, kinds.join(), catalogue])
  const props = catalogue && values && { draft, network, kinds, catalogue, values }
  if (open.length === 0) return null
  return (
    <div class="views card">
      {!props && <Busy label="Reading which fields there are" />}
      {props && open.includes('conditions') && <Builder {...props} />}
      {props && open.includes('json') && <DslEditor {...props} />}
    </div>
  )
}

interface SumProps {
  question: BoxQuestion
  answer: SearchAnswer | undefined
  news: number
  follows: boolean
  busy: boolean
  isCut: boolean
}

/** Number of hits, time, and how the text was understood. */
const Sum = ({ question, answer, news, follows, busy, isCut }: SumProps) => {
  const total = (answer?.hits.total ?? 0) + news
  return (
    <p class="sum" role="status">
      {busy && <span class="dim">Searching …</span>}
      {answer && !busy && (
        <span>
          <strong>{total.toLocaleString()}</strong> {total === 1 ? 'hit' : 'hits'} in {answer.took.toLocaleString()} ms
        </span>
      )}
      <span class="dim">Asked for {question.as}.</span>
      {follows && <span class="good">Follows the chain: {news.toLocaleString()} new.</span>}
      {isCut && <Button class="link" label="Show the whole time" onClick={() => setQuery({ from: '', to: '' })} />}
    </p>
  )
}

/** Suggestions in place of hits. */
const Nothing = ({ search: { network, text, kinds } }: { search: Search }) => {
  const isWord = /^[\p{L}\p{N}_$ -]{2,60}$/u.test(text)
  const { data = [] } = useAsk(isWord ? `${network} ${text}` : undefined, signal =>
    askSuggestions(network, text, signal),
  )
  const offers = isWord ? data.filter(({ kind }) => kind !== 'field') : []
  const take = (offer: (typeof offers)[number]) => {
    const { text, needs } = applySuggestion('', 0, offer)
    setQuery({ q: offer.address ?? text, kinds: [...new Set([...kinds, ...needs])].join() })
  }
  return (
    <Empty title="Nothing was found">
      {offers.length > 0 && <p>You may mean:</p>}
      {offers.length > 0 && (
        <ul>
          {offers.map(offer => (
            <li key={`${offer.kind} ${offer.field} ${offer.text} ${offer.address}`}>
              <Button class="link" label={visibleText(offer.text)} onClick={() => take(offer)} />{' '}
              <span class="dim">{offer.kind}</span>
            </li>
          ))}
        </ul>
      )}
      <p>Choose further kinds, or ask for less. An empty box shows the newest documents.</p>
    </Empty>
  )
}

const Opened = ({ network, kind, id }: { network: string; kind: string; id: string }) => {
  const { data, error, again } = useGet<SearchHit>(documentPath(network, kind, id))
  const [tab, setTab] = useState('fields')
  const title = say`${kind} ${<Hash value={id} />}`
  const source = data?._id === id ? data._source : undefined
  const tabs = source && [
    {
      name: 'fields',
      title: 'Fields',
      show: () => <Facts class="fields" of={Object.fromEntries(leavesOf(source, ''))} />,
    },
    { name: 'json', title: 'JSON', show: () => <JsonView value={source} label="The document" /> },
  ]
  return (
    <Aside what="hit" title={title} onClose={() => setQuery({ open: '' })}>
      {error !== undefined && <Fault error={error} again={again} />}
      {!tabs && error === undefined && <Busy label="Reading the document" />}
      {tabs && <Tabs label="How it is shown" tabs={tabs} current={tab} onChange={setTab} />}
    </Aside>
  )
}

/** Values by path; a list is one value. */
const leavesOf = (value: Json, path: string): [path: string, shown: ComponentChildren][] =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path === '' ? name : `${path}.${name}`))
    : [[path, <Text key={path} value={typeof value === 'string' ? value : stringifyJson(value)} />]]
