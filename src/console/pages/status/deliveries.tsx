import { useEffect, useState } from 'preact/hooks'
import { useAsk, useLive } from '../../api/ask.ts'
import { ask, messageOf } from '../../api/client.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { announce, confirm, Dialog, SelectField } from '../../parts/controls.tsx'
import { plain } from '../../parts/format.ts'
import { PlainTable } from '../../parts/table.tsx'
import { Text, Time } from '../../parts/text.tsx'
import { setQuery, useQueryState } from '../../shell/router.tsx'
import type { Attempt, Delivery, Destination } from './wire.ts'

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

const SIZE = 50
const STATES = [
  { value: '', label: 'all' },
  { value: 'waiting', label: 'waiting' },
  { value: 'retried', label: 'failed, will be tried again' },
  { value: 'dead', label: 'dead' },
  { value: 'delivered', label: 'delivered' },
  { value: 'cancelled', label: 'cancelled' },
]

interface Page {
  deliveries: Delivery[]
  next: string | null
}

/** The newest deliveries of the account, of one receiver or of all. */
export const DeliveryList = () => {
  const [state, setState] = useQueryState('state')
  const [channel] = useQueryState('channel')
  const [target] = useQueryState('target')
  const [opened, setOpened] = useState<number>()
  const where = new URLSearchParams({ size: String(SIZE) })
  for (const [name, value] of Object.entries({ state, channel, target })) if (value) where.set(name, value)
  const key = where.toString()

  const [before, setBefore] = useState<{ key: string; cursor: string }>()
  const [shown, setShown] = useState<{ key: string; deliveries: Delivery[]; next: string | null }>()
  const cursor = before?.key === key ? before.cursor : undefined
  const page = useAsk(`${key} ${cursor ?? ''}`, async signal => {
    const path = `alerting/deliveries?${key}${cursor === undefined ? '' : `&before=${encodeURIComponent(cursor)}`}`
    return { key, cursor, ...(await ask<Page>(path, { signal })) }
  })
  useEffect(() => {
    const { data } = page
    if (data?.key !== key || data.cursor !== cursor) return
    const earlier = cursor === undefined || shown?.key !== key ? [] : shown.deliveries
    setShown({ key, deliveries: [...earlier, ...data.deliveries], next: data.next })
  }, [page.data])

  const list = shown?.key === key ? shown : undefined
  return (
    <>
      <h2>Deliveries</h2>
      <div class="filters">
        <SelectField label="State" value={state} options={STATES} onChange={value => setState(value)} />
        {target !== '' && (
          <p>
            To {channel} <Text value={target} most={80} brief />{' '}
            <button type="button" class="link" onClick={() => setQuery({ channel: '', target: '' })}>
              Show all receivers
            </button>
          </p>
        )}
        <p>
          <button type="button" onClick={() => (cursor === undefined ? page.again() : setBefore(undefined))}>
            Read again
          </button>
        </p>
      </div>
      {page.error !== undefined && (
        <Fault title="The deliveries cannot be read" error={page.error} again={page.again} />
      )}
      {list && list.deliveries.length === 0 && list.next === null && <p>There are no such deliveries.</p>}
      {list && list.deliveries.length > 0 && (
        <PlainTable
          label="Deliveries"
          columns={deliveryColumns(setOpened)}
          rows={list.deliveries}
          keyOf={({ id }) => id}
        />
      )}
      {page.busy && <Busy label="Reading deliveries" />}
      {!page.busy && list && list.next !== null && (
        <button type="button" onClick={() => setBefore({ key, cursor: list.next! })}>
          Show older ones
        </button>
      )}
      {opened !== undefined && (
        <Attempts
          id={opened}
          onClose={() => {
            setOpened(undefined)
            page.again()
          }}
        />
      )}
    </>
  )
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['delivered', 'good'],
  ['dead', 'bad'],
])

const deliveryColumns = (open: (id: number) => void) =>
  [
    { title: 'Created', cell: ({ createdAt }: Delivery) => <Time value={createdAt} /> },
    {
      title: 'Receiver',
      cell: ({ channel, target }: Delivery) => (
        <>
          {channel} <Text value={target} most={60} brief />
        </>
      ),
    },
    { title: 'Rule', align: 'right', cell: ({ rule }: Delivery) => rule },
    { title: 'Message', cell: ({ type }: Delivery) => type },
    {
      title: 'State',
      cell: ({ state, tries }: Delivery) => (
        <span class={CLASSES.get(state)}>
          {state === 'queued' && tries > 0 ? `failed ${tries === 1 ? 'once' : `${tries} times`}` : state}
        </span>
      ),
    },
    {
      title: 'Last answer',
      cell: ({ lastStatus, lastError }: Delivery) => (
        <>
          {lastStatus} {lastError !== null && <Text value={lastError} most={120} brief />}
        </>
      ),
    },
    {
      title: 'What to do',
      cell: ({ id }: Delivery) => (
        <button type="button" aria-label={`Show the attempts of delivery ${id}`} onClick={() => open(id)}>
          Attempts
        </button>
      ),
    },
  ] as const

/** Every attempt of a delivery, with the beginning of the receiver's answer. */
export const Attempts = ({ id, onClose }: { id: number; onClose(): void }) => {
  const { data, error, again } = useAsk(`delivery ${id}`, signal =>
    ask<Delivery & { attempts: Attempt[] }>(`alerting/deliveries/${id}`, { signal }),
  )
  return (
    <Dialog title={`Delivery ${id}`} onClose={onClose}>
      {error !== undefined && <Fault error={error} again={again} />}
      {!data && error === undefined && <Busy label="Reading the attempts" />}
      {data && (
        <>
          <p>
            {data.type} to {data.channel} <Text value={data.target} most={120} />, {data.state}.
          </p>
          {data.nextAt !== null && data.state === 'queued' && (
            <p>
              Next try: <Time value={data.nextAt} due />
            </p>
          )}
          {data.attempts.length === 0 && <p>It has not been tried yet.</p>}
          <ol class="attempts">
            {data.attempts.map(attempt => (
              <li key={attempt.n} value={attempt.n}>
                <Time value={attempt.at} />: {attempt.outcome}
                {attempt.status !== null && ` with status ${attempt.status}`}
                {attempt.latencyMs !== null && ` after ${attempt.latencyMs.toLocaleString()} ms`}
                {attempt.error !== null && (
                  <p class="bad">
                    <Text value={attempt.error} most={500} />
                  </p>
                )}
                {attempt.head !== null && attempt.head !== '' && (
                  <pre>
                    <Text value={attempt.head} most={1_000} />
                  </pre>
                )}
              </li>
            ))}
          </ol>
          {data.state !== 'queued' && (
            <p class="actions">
              <button type="button" onClick={() => void sendAgain(id, data.target).then(again)}>
                Send again
              </button>
            </p>
          )}
        </>
      )}
    </Dialog>
  )
}

/** What goes out cannot be called back: asks before. */
export const sendDeadAgain = async (where: { channel: string; target: string }, name: string, count: number) => {
  const isSure = await confirm({
    title: 'Send dead deliveries again?',
    text: `${plain(name)} will get ${count.toLocaleString()} ${count === 1 ? 'message' : 'messages'}. This cannot be undone.`,
    action: 'Send again',
  })
  if (isSure) await redeliver({ ...where, dead: true })
}

export const sendAgain = async (delivery: number, target: string) => {
  const isSure = await confirm({
    title: 'Send this delivery again?',
    text: `${plain(target)} will get this message once more. This cannot be undone.`,
    action: 'Send again',
  })
  if (isSure) await redeliver({ delivery })
}

const redeliver = async (body: object) => {
  try {
    const { redelivered } = await ask<{ redelivered: number }>('alerting/deliveries/redeliver', { body })
    announce(
      redelivered === 0
        ? 'Nothing is to be sent again: it was sent meanwhile, or a retraction replaced it.'
        : `${redelivered.toLocaleString()} ${redelivered === 1 ? 'delivery' : 'deliveries'} will be sent again.`,
    )
  } catch (error) {
    announce(messageOf(error), 'error')
  }
}
