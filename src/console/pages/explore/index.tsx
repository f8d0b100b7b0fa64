import { useEffect, useMemo, useState } from 'preact/hooks'
import { getStatus } from '../../api/index.ts'
import { at } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import { KINDS, type Kind, type SearchAnswer } from '../../api/wire.ts'
import { Chart, type Series } from '../../parts/chart.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { CheckField } from '../../parts/field.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Table } from '../../parts/table.tsx'
import { setQuery, useQueryState } from '../../shell/router.tsx'
import type { Asked } from './body.ts'
import { columnsFor } from './columns.tsx'
import { Opened } from './opened.tsx'
import { type Question, readQuestion } from './question.ts'
import { useHits } from './use-hits.ts'

const DEFAULT_KINDS = 'tx,event'

/** Searches, with all of their state in the address. */
const Explore = () => {
  const status = useAsk('status', getStatus)
  const networks = status.data?.networks.map(({ network }) => network) ?? []
  const [asked, setNetwork] = useQueryState('network')
  const network = asked || networks[0]
  const [kindText, setKinds] = useQueryState('kinds', DEFAULT_KINDS)
  const kinds = KINDS.filter(kind => kindText.split(',').includes(kind))
  const [text] = useQueryState('q')
  const [from] = useQueryState('from')
  const [to] = useQueryState('to')
  const [open] = useQueryState('open')

  const { question, error } = useMemo(() => understand(text, kinds), [text, kindText])
  const query: Asked | undefined =
    question && kinds.length > 0 ? { query: question.query, from: millis(from), to: millis(to) } : undefined
  const found = useHits(network, kinds, query)
  const series = useMemo(() => seriesOf(found.data), [found.data])
  const [openKind = '', openId = ''] = open.split(/ (.*)/s)

  if (status.error !== undefined && !status.data)
    return <Fault title="The networks cannot be read" error={status.error} again={status.again} />
  if (!status.data) return <Busy label="Reading which networks there are" />
  if (network === undefined)
    return (
      <Empty title="There is no network yet">
        <p>
          Start the server with a node, or import blocks: <code>chainsieve serve --network T/B/N --rpc URL</code>
        </p>
      </Empty>
    )

  return (
    <div class="explore">
      <h1 class="skip">Explore</h1>
      <Box text={text} networks={networks} network={network} onNetwork={setNetwork} />
      <fieldset>
        <legend class="skip">Kinds of documents</legend>
        {KINDS.map(kind => (
          <CheckField
            key={kind}
            label={kind}
            checked={kinds.includes(kind)}
            onChange={checked =>
              setKinds(KINDS.filter(it => (it === kind ? checked : kinds.includes(it))).join() || 'none')
            }
          />
        ))}
      </fieldset>
      {error !== undefined && <Fault error={error} />}
      {kinds.length === 0 && <Empty title="Choose at least one kind of documents" />}
      {found.error !== undefined && <Fault title="The search failed" error={found.error} again={found.again} />}
      {query && found.error === undefined && (
        <>
          <Sum question={question!} answer={found.data} busy={found.busy} isCut={from !== '' || to !== ''} />
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
          {found.data?.hits.total === 0 && (
            <Empty title="Nothing was found">
              <p>Choose further kinds, or ask for less. An empty box shows the newest documents.</p>
            </Empty>
          )}
          <div class="found">
            {found.hits.length > 0 && (
              <Table
                label="Hits"
                columns={columnsFor(network)}
                rows={found.hits}
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

export default Explore

interface BoxProps {
  text: string
  networks: readonly string[]
  network: string
  onNetwork(network: string): void
}

const Box = ({ text, networks, network, onNetwork }: BoxProps) => {
  const [typed, setTyped] = useState(text)
  useEffect(() => setTyped(text), [text])
  const submit = () => setQuery({ q: typed.trim(), open: '' })
  return (
    <form
      class="ask"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <select aria-label="Network" value={network} onChange={event => onNetwork(event.currentTarget.value)}>
        {(networks.includes(network) ? networks : [network, ...networks]).map(name => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <textarea
        data-search
        aria-label="Search"
        rows={1}
        spellcheck={false}
        placeholder="Address, hash, block number, field:value, or a query in JSON"
        value={typed}
        onInput={event => setTyped(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || (typed.trim().startsWith('{') && !event.ctrlKey)) return
          event.preventDefault()
          submit()
        }}
      />
      <button type="submit" class="main">
        Search
      </button>
    </form>
  )
}

interface SumProps {
  question: Question
  answer: SearchAnswer | undefined
  busy: boolean
  isCut: boolean
}

const Sum = ({ question, answer, busy, isCut }: SumProps) => (
  <p class="sum" role="status">
    {busy && <span class="dim">Searching …</span>}
    {answer && !busy && (
      <span>
        <strong>{answer.hits.total.toLocaleString()}</strong> {answer.hits.total === 1 ? 'hit' : 'hits'} in{' '}
        {answer.took.toLocaleString()} ms
      </span>
    )}
    <span class="dim">Asked for {question.as}.</span>
    {isCut && (
      <button type="button" class="link" onClick={() => setQuery({ from: '', to: '' })}>
        Show the whole time
      </button>
    )}
  </p>
)

const understand = (text: string, kinds: readonly Kind[]): { question?: Question; error?: unknown } => {
  try {
    return { question: readQuestion(text, kinds) }
  } catch (error) {
    return { error }
  }
}

const millis = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined)

const seriesOf = (answer: SearchAnswer | undefined): Series | undefined => {
  const buckets = at(answer?.aggregations, 'counts.buckets')
  if (!Array.isArray(buckets) || buckets.length === 0) return undefined
  return {
    times: buckets.map(bucket => Number(at(bucket, 'key')) / 1000),
    counts: buckets.map(bucket => Number(at(bucket, 'doc_count'))),
  }
}
