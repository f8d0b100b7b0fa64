import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { getStatus } from '../../api/index.ts'
import { useAsk } from '../../api/use-ask.ts'
import { useLive } from '../../api/use-live.ts'
import { KINDS, type Status } from '../../api/wire.ts'
import { Chart } from '../../parts/chart.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { CheckField } from '../../parts/field.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { plain } from '../../parts/visible.ts'
import { Link, setQuery } from '../../shell/router.tsx'
import { AskBox } from './ask-box.tsx'
import { getCatalogue } from './catalogue.ts'
import { columnsFor } from './columns.tsx'
import { sortPath } from './fields.ts'
import { useKnown } from './known.ts'
import { Nothing } from './nothing.tsx'
import { Opened } from './opened.tsx'
import { seriesOf } from './series.ts'
import { isFirstSight, type Search, setKinds, useAsked, useSearch } from './state.ts'
import { Sum } from './sum.tsx'
import { Toolbar } from './toolbar.tsx'
import { DEMO, Tries } from './tries.tsx'
import { useDraft } from './use-draft.ts'
import { useFollow, withNews } from './use-follow.ts'
import { useHits } from './use-hits.ts'
import { Views } from './views.tsx'

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

interface Props {
  search: Search
  networks: readonly string[]
  /** Why the network is not live. */
  reasons: NonNullable<Status['reasons']>
}

const Page = ({ search, networks, reasons }: Props) => {
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
