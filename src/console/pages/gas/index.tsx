import { useMemo } from 'preact/hooks'
import { type AskState, useAsk, useLive } from '../../api/ask.ts'
import type { GasPriceAnswer } from '../../api/wire.ts'
import { Link, setQuery, useQueryState } from '../../browser/router.tsx'
import { Await, Empty } from '../../parts/answer.tsx'
import { Chart } from '../../parts/chart.tsx'
import { InChosenNetwork } from '../../parts/chosen-network.tsx'
import { Button, SelectField } from '../../parts/controls.tsx'
import { type Column, PlainTable } from '../../parts/table.tsx'
import { Facts, PageHead } from '../../parts/text.tsx'
import { type GasHistory, PRICE_LINES, readGasHistory } from './history.ts'

const GAS_RANGES = [
  { value: '3600', label: 'The last hour' },
  { value: '86400', label: 'The last day' },
  { value: '604800', label: 'The last week' },
  { value: '2592000', label: 'The last 30 days' },
  { value: 'all', label: 'All blocks' },
]

export default () => (
  <>
    <PageHead title="Gas" />
    <InChosenNetwork>{network => <GasOf key={network} network={network} />}</InChosenNetwork>
  </>
)

const PRICE_REFRESH_MS = 10_000
const MINUTE_MS = 60_000

const GasOf = ({ network }: { network: string }) => {
  const price = useLive<GasPriceAnswer>(`${network}/gasprice`, PRICE_REFRESH_MS)
  const [range, setRange] = useQueryState('range', '86400')
  const [from] = useQueryState('from')
  const [to] = useQueryState('to')
  const isCut = from !== '' && to !== ''
  const shown = isCut
    ? { from: Number(from), to: Number(to) }
    : { seconds: range === 'all' ? undefined : Number(range) }
  // Prices are asked for again, and with them once a minute the history.
  const minute = isCut ? 0 : Math.floor(Date.now() / MINUTE_MS)
  const history = useAsk(`${network} ${JSON.stringify(shown)} ${minute}`, async signal => ({
    found: await readGasHistory(network, shown, signal),
  }))
  const uncut = { from: '', to: '' }
  return (
    <>
      <Await asked={price} failed="The gas price cannot be read" busy="Reading the gas price">
        {price => <TierTable network={network} price={price} />}
      </Await>
      <div class="gas-range">
        <SelectField
          label="Range"
          value={isCut ? 'cut' : range}
          options={[...(isCut ? [{ value: 'cut', label: 'The chosen span' }] : []), ...GAS_RANGES]}
          onChange={value => {
            setQuery(uncut)
            setRange(value)
          }}
        />
        {isCut && <Button class="quiet" label="Show the range again" onClick={() => setQuery(uncut)} />}
      </div>
      <History asked={history} />
    </>
  )
}

interface TierRow {
  name: string
  share: string
  gasPrice?: number | null
  priorityFee?: number
  maxFee?: number
}

const TierTable = ({ network, price }: { network: string; price: GasPriceAnswer }) => {
  const { health, blockNumber, blockTime, latestBlockBaseFee, latestBlockMinFee, eip1559 } = price
  if (blockNumber === null) return <Empty title="There are no blocks yet" />
  const tier = (name: 'slow' | 'standard' | 'fast' | 'faster' | 'instant', share: string): TierRow => ({
    ...{ name: `${name[0]!.toUpperCase()}${name.slice(1)}`, share, ...eip1559?.[name] },
    ...(name !== 'faster' && { gasPrice: price[name] }),
  })
  const rows = [
    tier('slow', '30%'),
    tier('standard', '60%'),
    tier('fast', '90%'),
    tier('faster', '96%'),
    tier('instant', '99%'),
  ]
  return (
    <>
      {!health && (
        <p class="notice">
          These fees may mislead: the newest block is old, or nothing was paid in the last blocks.{' '}
          <Link to="/status">Show the status</Link>
        </p>
      )}
      <Facts
        of={{
          'Newest block': <Link to={`/${network}/block/${blockNumber}`}>{blockNumber.toLocaleString()}</Link>,
          'Base fee': latestBlockBaseFee !== undefined && `${showGwei(latestBlockBaseFee)} gwei`,
          'Lowest price in it': latestBlockMinFee !== undefined && `${showGwei(latestBlockMinFee)} gwei`,
          'A block takes': blockTime !== null && `${showGwei(blockTime)} s`,
        }}
      />
      <PlainTable
        label="Fees in gwei, by the last 20 blocks"
        columns={eip1559 ? TIER_COLUMNS : TIER_COLUMNS.filter(({ title }) => !/fee/.test(title))}
        rows={eip1559 ? rows : rows.filter(({ gasPrice }) => gasPrice !== undefined)}
        keyOf={({ name }) => name}
      />
    </>
  )
}

const gweiColumn = (title: string, read: (row: TierRow) => number | null | undefined): Column<TierRow> => ({
  ...{ title, align: 'right' },
  cell: row => showGwei(read(row)),
})

const TIER_COLUMNS: readonly Column<TierRow>[] = [
  { title: 'Tier', cell: ({ name }) => name },
  { title: 'Of the gas paid at most', align: 'right', cell: ({ share }) => share },
  gweiColumn('Priority fee', ({ priorityFee }) => priorityFee),
  gweiColumn('Max fee', ({ maxFee }) => maxFee),
  gweiColumn('Gas price', ({ gasPrice }) => gasPrice),
]

const GWEI_DIGITS = 6
const showGwei = (value: number | null | undefined): string =>
  value == null ? '–' : Number(value.toPrecision(GWEI_DIGITS)).toLocaleString(undefined, { maximumFractionDigits: 9 })

const History = ({ asked }: { asked: AskState<{ found: GasHistory | undefined }> }) => (
  <Await asked={asked} failed="The gas over time cannot be read" busy="Reading the gas over time">
    {({ found }) =>
      found === undefined || found.times.length === 0 ? (
        <Empty title="There are no blocks in this range" />
      ) : (
        <GasCharts history={found} />
      )
    }
  </Await>
)

const GasCharts = ({ history }: { history: GasHistory }) => {
  const { times, prices, used } = history
  const lines = useMemo(
    () => ({ times, lines: PRICE_LINES.map((name, i) => ({ name, values: prices[i] ?? [] })) }),
    [history],
  )
  const bars = useMemo(() => ({ times, counts: used }), [history])
  const cut = (from: number, to: number) =>
    setQuery({ from: String(Math.floor(from * 1_000)), to: String(Math.ceil(to * 1_000)) })
  return (
    <>
      <h2>Base fee and prices, in gwei</h2>
      <Chart label={`Base fee and gas prices over time, ${times.length} spans`} series={lines} onSelect={cut} />
      <p class="dim">
        A line with 30% is the price that 30% of the transactions paid at most. Drag to show a shorter span.
      </p>
      <h2>Gas used, in percent of the limit</h2>
      <Chart label={`Gas used over time, ${times.length} spans`} series={bars} onSelect={cut} />
    </>
  )
}
