import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { getStatus } from '../../api/index.ts'
import { useAsk } from '../../api/use-ask.ts'
import { KINDS } from '../../api/wire.ts'
import { Chart } from '../../parts/chart.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { CheckField } from '../../parts/field.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Table } from '../../parts/table.tsx'
import { setQuery } from '../../shell/router.tsx'
import { AskBox } from './ask-box.tsx'
import { getCatalogue } from './catalogue.ts'
import { columnsFor } from './columns.tsx'
import { sortPath } from './fields.ts'
import { useKnown } from './known.ts'
import { Nothing } from './nothing.tsx'
import { Opened } from './opened.tsx'
import { seriesOf } from './series.ts'
import { type Search, setKinds, useAsked, useSearch } from './state.ts'
import { Sum } from './sum.tsx'
import { Toolbar } from './toolbar.tsx'
import { DEMO, Tries } from './tries.tsx'
import { useDraft } from './use-draft.ts'
import { useFollow, withNews } from './use-follow.ts'
import { useHits } from './use-hits.ts'
import { Views } from './views.tsx'

/** Searches, with all of their state in the address. */
const Explore = () => {
  const status = useAsk('status', getStatus)
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
  return <Page search={search} networks={networks} />
}

export default Explore

const Page = ({ search, networks }: { search: Search; networks: readonly string[] }) => {
  const { network, kinds, columns, view, sort, from, to, follows, open } = search
  const [isWanted, setWanted] = useState(false)
  const needsFields = isWanted || view !== '' || sort !== undefined || columns.some(name => !name.startsWith('@'))
  const fields = useAsk(needsFields ? network : undefined, signal => getCatalogue(network, signal))
  const catalogue = fields.data
  const { question, asked, error } = useAsked(search, catalogue)
  const draft = useDraft(search.text, kinds)
  const found = useHits(network, kinds, asked)
  const news = useFollow(network, kinds, asked, follows, found.again)
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
