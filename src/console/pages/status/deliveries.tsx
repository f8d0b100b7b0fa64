import { ask } from '../../api/client.ts'
import { useLive } from '../../api/use-live.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { setQuery } from '../../shell/router.tsx'
import { DeliveryList } from './delivery-list.tsx'
import { sendDeadAgain } from './redeliver.ts'
import type { Destination } from './wire.ts'

const EVERY_MS = 5_000

interface Answer {
  complete: boolean
  destinations: Destination[]
}

/** What waits for each receiver of the account, and the deliveries to it. */
export const Deliveries = () => {
  const { data, error, again } = useLive(
    'destinations',
    signal => ask<Answer>('alerting/destinations', { signal }),
    EVERY_MS,
  )
  if (error !== undefined && !data) return <Fault title="The receivers cannot be read" error={error} again={again} />
  if (!data) return <Busy label="Reading the receivers" />
  return (
    <>
      <h2>Receivers</h2>
      {!data.complete && (
        <p class="notice">
          There are too many deliveries to count all of them: the numbers are those of the first 20,000.
        </p>
      )}
      {data.destinations.length === 0 ? (
        <Empty title="Nothing waits, and nothing failed">
          <p>A receiver is listed here while deliveries to it wait, or failed for good.</p>
        </Empty>
      ) : (
        <PlainTable
          label="Receivers"
          columns={columnsFor(again)}
          rows={data.destinations}
          keyOf={({ channel, target }) => `${channel} ${target}`}
        />
      )}
      <DeliveryList />
    </>
  )
}

const columnsFor = (again: () => void) =>
  [
    {
      title: 'Receiver',
      cell: ({ channel, target }: Destination) => (
        <>
          {channel} <Text value={target} most={80} brief />
        </>
      ),
    },
    {
      title: 'State',
      cell: ({ failing }: Destination) =>
        failing === null ? (
          <span class="good">takes messages</span>
        ) : (
          <span class="bad">
            failing since <Time value={failing.since} />: {failing.status}{' '}
            <Text value={failing.error} most={200} brief />
          </span>
        ),
    },
    { title: 'Waiting', align: 'right', cell: (it: Destination) => <Count of={it} state="waiting" /> },
    { title: 'Retried', align: 'right', cell: (it: Destination) => <Count of={it} state="retried" /> },
    { title: 'Dead', align: 'right', cell: (it: Destination) => <Count of={it} state="dead" /> },
    {
      title: 'Next try',
      cell: ({ nextAt, waiting, retried }: Destination) =>
        nextAt !== null && waiting + retried > 0 ? <Time value={nextAt} due /> : '',
    },
    {
      title: 'What to do',
      cell: ({ channel, target, dead }: Destination) =>
        dead > 0 && (
          <button type="button" onClick={() => void sendDeadAgain({ channel, target }, target, dead).then(again)}>
            Send dead again
          </button>
        ),
    },
  ] as const

/** Leads to the deliveries that it counts. */
const Count = ({ of, state }: { of: Destination; state: 'waiting' | 'retried' | 'dead' }) => {
  const count = of[state]
  if (count === 0) return <>0</>
  return (
    <button
      type="button"
      class="link"
      aria-label={`${count} ${state}: show them`}
      onClick={() => setQuery({ channel: of.channel, target: of.target, state })}
    >
      {count.toLocaleString()}
    </button>
  )
}
