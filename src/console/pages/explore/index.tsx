import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAsk, useGet } from '../../api/ask.ts'
import { documentPath } from '../../api/client.ts'
import { useStatus } from '../../api/status.ts'
import { askSuggestions } from '../../api/suggest.ts'
import { OFFERED_KINDS, type SearchAnswer, type SearchHit } from '../../api/wire.ts'
import { Link, setQuery } from '../../browser/router.tsx'
import { Await, Busy, Empty, Fault } from '../../parts/answer.tsx'
import { Chart, type Layer, type Series } from '../../parts/chart.tsx'
import { InChosenNetwork } from '../../parts/chosen-network.tsx'
import { Aside, Button, CheckField } from '../../parts/controls.tsx'
import { placeOf } from '../../parts/destinations.ts'
import { dateOf, spanText } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Menu, Tabs } from '../../parts/menu.tsx'
import { VirtualTable } from '../../parts/table.tsx'
import { Facts, say, Text } from '../../parts/text.tsx'
import { isAddress } from '../things/read.ts'
import { AddressLink } from '../things/values.tsx'
import { AskBox } from './ask-box.tsx'
import { Builder } from './builder.tsx'
import { getCatalogue, knownValues } from './catalogue.ts'
import { columnsFor, documentFacts, nameOf } from './columns.tsx'
import { clauseOf, type Operator } from './conditions.ts'
import { DslEditor } from './dsl.tsx'
import type { Catalogue } from './fields.ts'
import type { BoxQuestion } from './query.ts'
import { setRange } from './range.tsx'
import {
  type Draft,
  isCut,
  isFirstSight,
  type Search,
  seriesOf,
  setKinds,
  splitsOf,
  useAsked,
  useDraft,
  useFollow,
  useHits,
  useSearch,
  withNews,
} from './state.ts'
import { Toolbar } from './toolbar.tsx'

export default () => (
  <>
    <h1 class="skip">Explore</h1>
    <InChosenNetwork>{network => <ExploreView network={network} />}</InChosenNetwork>
  </>
)

const ExploreView = ({ network }: { network: string }) => {
  const search = useSearch(network)
  const { kinds, columns, view, sort, split, follows, open } = search
  const [isWanted, setWanted] = useState(false)
  const [round, setRound] = useState(0)
  const needsFields = isWanted || view !== '' || sort !== undefined || columns.some(name => !name.startsWith('@'))
  const fields = useAsk(needsFields ? network : undefined, signal => getCatalogue(network, signal))
  const catalogue = fields.data
  const newest = useStatus().data?.networks.find(it => it.network === network)?.lastBlock?.time
  const { question, asked, error } = useAsked(search, catalogue, newest ? dateOf(newest).getTime() : undefined, round)
  const usual = useHits(network, kinds, asked)
  // An empty chain is followed, too.
  const isWithout = isFirstSight(search) && usual.data?.hits.total === 0
  const blocks = useHits(isWithout ? network : undefined, ['block'], asked)
  const hasBlocks = isWithout && blocks.rows.length > 0
  const found = hasBlocks ? blocks : usual
  const draft = useDraft(search.text, kinds, () => {
    setRound(round + 1)
    found.again()
  })
  const news = useFollow(network, hasBlocks ? ['block'] : kinds, asked, follows, found.again)
  const hits = useMemo(() => withNews(found.rows, news), [found.rows, news.hits, news.gone])
  const fresh = hits.length - found.rows.length
  const series = useMemo(() => {
    const series = seriesOf(found.data, hits.slice(0, Math.max(fresh, 0)), split)
    const named = (layer: Layer) =>
      isAddress(layer.name) ? { ...layer, label: <AddressLink value={layer.name} bare /> } : layer
    return series && { ...series, split: series.split?.map(named) }
  }, [found.data, fresh, split])
  const box = useKeptPlace(hits.length, news.hits)
  const [openKind = '', openId = ''] = open.split(/ (.*)/s)
  const cut = (from: number, to: number) =>
    setQuery({ from: String(Math.floor(from * 1000)), to: String(Math.ceil(to * 1000)), range: '' })

  return (
    <div class="explore">
      <AskBox
        draft={draft}
        network={network}
        onNeeds={needs => needs.some(kind => kinds.includes(kind)) || setKinds([...kinds, ...needs])}
      />
      <div class="choices">
        <fieldset class="segments">
          <legend class="skip">Kinds of documents</legend>
          {OFFERED_KINDS.map(kind => (
            <CheckField
              key={kind}
              label={KIND_TITLES[kind]}
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
          <Sum {...{ search, question, series, news: fresh, answer: found.data, busy: found.busy }} />
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
                columns={columnsFor(search, catalogue)}
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

const KIND_TITLES = {
  ...{ block: 'Blocks', tx: 'Transactions', event: 'Events', log: 'Logs' },
  ...{ call: 'Calls', trace: 'Traces', contract: 'Contracts', token: 'Tokens' },
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

interface ViewsProps {
  search: Search
  draft: Draft
  catalogue: Catalogue | undefined
}

/** Optional views of the query. */
const Views = ({ search: { network, kinds, view }, draft, catalogue }: ViewsProps) => {
  const values = useMemo(() => catalogue && knownValues(network, kinds, catalogue), [network, kinds.join(), catalogue])
  const props = catalogue && values && { draft, network, kinds, catalogue, values }
  if (view === '') return null
  return (
    <div class="views card">
      {!props && <Busy label="Reading which fields there are" />}
      {props && view.includes('conditions') && <Builder {...props} />}
      {props && view.includes('json') && <DslEditor {...props} />}
    </div>
  )
}

interface SumProps {
  search: Search
  question: BoxQuestion
  answer: SearchAnswer | undefined
  series: Series | undefined
  news: number
  busy: boolean
}

/** Number of hits, how the text was understood, and what the chart shows. */
const Sum = ({ search, question, answer, series, news, busy }: SumProps) => {
  const total = (answer?.hits.total ?? 0) + news
  const { kinds, split, follows, range } = search
  const [first, second] = series?.times ?? []
  return (
    <div class="sum">
      <p role="status">
        {busy && <span class="dim">Searching …</span>}
        {answer && !busy && (
          <span>
            <strong>{total.toLocaleString()}</strong> {total === 1 ? 'hit' : 'hits'} in {answer.took.toLocaleString()}{' '}
            ms
          </span>
        )}
        {question.as !== '' && <span class="as dim">Understood as {question.as}.</span>}
        {follows && <span class="good">Follows the chain: {news.toLocaleString()} new.</span>}
        {(isCut(search) || range !== '') && (
          <Button class="link" label="Show the whole time" onClick={() => setRange('')} />
        )}
      </p>
      {first !== undefined && (
        <span class="dim">
          {second !== undefined && `per ${spanText(second - first).replace(/^1 /, '')}, `}by
          <Menu
            class="quiet"
            name={`Split by ${split}`}
            label={
              <>
                {split}
                <Icon name="down" />
              </>
            }
            items={splitsOf(kinds).map(title => ({
              ...{ title, checked: title === split, run: () => setQuery({ split: title }, { replace: true }) },
            }))}
          />
        </span>
      )}
    </div>
  )
}

const COMPARISON = /^(\w+)\s*(>=?|<=?|=)\s*([\d,_]+(?:\.\d+)?)$/
const OPERATORS: Record<string, Operator> = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte', '=': 'is' }

/** What may have been meant, in place of hits. */
const Nothing = ({ search: { network, text } }: { search: Search }) => {
  const isWord = /^[\p{L}\p{N}_$ -]{2,60}$/u.test(text)
  const { data = [] } = useAsk(isWord ? `${network} ${text}` : undefined, signal =>
    askSuggestions(network, text, signal),
  )
  const explore = (kinds: string, q: string) => `/explore?${new URLSearchParams({ network, kinds, q })}`
  const offers = data.flatMap(it => {
    const place = isWord ? placeOf(network, it) : undefined
    return place ? [{ ...place, address: it.address }] : []
  })
  const [, argument = '', sign = '', value = ''] = COMPARISON.exec(text) ?? []
  const compared = { argument, operator: OPERATORS[sign]!, not: false, value: value.replace(/[,_]/g, '') }
  return (
    <Empty title="Nothing was found">
      {(offers.length > 0 || sign !== '') && <p>Did you mean:</p>}
      <ul class="plain">
        {sign !== '' && (
          <li>
            <Link to={explore('event', clauseOf([{ ...compared, field: 'args.value.scaled' }]))}>
              Events whose argument {argument} {sign} {value}
            </Link>{' '}
            <span class="dim">in units of the token</span>
          </li>
        )}
        {offers.map(({ value, title = '', kind = '', address }) => (
          <li key={value}>
            <Link to={value}>
              <Text value={title} most={48} brief />
            </Link>{' '}
            <span class="dim">{kind}</span>
            {address !== undefined && ' · '}
            {address !== undefined && (
              <Link to={explore(OFFERED_KINDS.join(), address)}>
                Everything about <Text value={title} most={48} brief />
              </Link>
            )}
          </li>
        ))}
      </ul>
      <p>Choose further kinds, or a longer time. An empty box shows the newest documents.</p>
    </Empty>
  )
}

const Opened = ({ network, kind, id }: { network: string; kind: string; id: string }) => {
  const { data, error, again } = useGet<SearchHit>(documentPath(network, kind, id))
  const [tab, setTab] = useState('fields')
  const hit = data?._id === id ? data : undefined
  const tabs: readonly { name: string; title: string; show(): ComponentChildren }[] | undefined = hit && [
    { name: 'fields', title: 'Fields', show: () => <Facts class="fields" of={documentFacts(hit._source)} /> },
    { name: 'json', title: 'JSON', show: () => <JsonView value={hit._source} label="The document" /> },
  ]
  return (
    <Aside what="hit" title={say`${kind} ${hit && nameOf(hit)}`} onClose={() => setQuery({ open: '' })}>
      {error !== undefined && <Fault error={error} again={again} />}
      {!tabs && error === undefined && <Busy label="Reading the document" />}
      {tabs && <Tabs label="How it is shown" tabs={tabs} current={tab} onChange={setTab} />}
    </Aside>
  )
}
