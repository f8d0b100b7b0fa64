import { useState } from 'preact/hooks'
import { useAsk, useLive, usePages } from '../../api/ask.ts'
import { ask } from '../../api/client.ts'
import type { Attempt, Delivery, Destination } from '../../api/wire.ts'
import { Await, Busy, Empty } from '../../parts/answer.tsx'
import { Button, Dialog, SelectField } from '../../parts/controls.tsx'
import { count, plain } from '../../parts/format.ts'
import { type Column, PlainTable } from '../../parts/table.tsx'
import { say, Text, Time } from '../../parts/text.tsx'
import { setQuery, useQueryState } from '../../shell/router.tsx'
import { getDeliveries, redeliver } from '../rules/api.ts'

const EVERY_MS = 5_000

/** What waits for each receiver of the account, and the deliveries to it. */
export const Deliveries = () => {
  const asked = useLive(
    'destinations',
    signal => ask<{ complete: boolean; destinations: Destination[] }>('alerting/destinations', { signal }),
    EVERY_MS,
  )
  return (
    <Await asked={asked} failed="The receivers cannot be read" busy="Reading the receivers" quiet>
      {({ complete, destinations }) => (
        <>
          <h2>Receivers</h2>
          {!complete && (
            <p class="notice">
              There are too many deliveries to count all of them: the numbers are those of the first 20,000.
            </p>
          )}
          {destinations.length === 0 ? (
            <Empty title="Nothing waits, and nothing failed">
              <p>A receiver is listed here while deliveries to it wait, or failed for good.</p>
            </Empty>
          ) : (
            <PlainTable
              label="Receivers"
              columns={receivers(asked.again)}
              rows={destinations}
              keyOf={({ channel, target }) => `${channel} ${target}`}
            />
          )}
          <DeliveryList />
        </>
      )}
    </Await>
  )
}

const receivers = (again: () => void): Column<Destination>[] => [
  {
    title: 'Receiver',
    cell: ({ channel, target }) => say`${channel} ${<Text value={target} most={80} brief />}`,
  },
  {
    title: 'State',
    cell: ({ failing }) =>
      failing === null ? (
        <span class="good">takes messages</span>
      ) : (
        <span class="bad">
          failing since <Time value={failing.since} />: {failing.status} <Text value={failing.error} most={200} brief />
        </span>
      ),
  },
  ...(['waiting', 'retried', 'dead'] as const).map(
    (state): Column<Destination> => ({
      title: state[0]!.toUpperCase() + state.slice(1),
      align: 'right',
      cell: it => <Count of={it} state={state} />,
    }),
  ),
  {
    title: 'Next try',
    cell: ({ nextAt, waiting, retried }) => nextAt !== null && waiting + retried > 0 && <Time value={nextAt} due />,
  },
  {
    title: 'What to do',
    cell: it => it.dead > 0 && <Button label="Send dead again" onClick={() => sendDeadAgain(it).then(again)} />,
  },
]

/** Leads to the deliveries that it counts. */
const Count = ({ of, state }: { of: Destination; state: 'waiting' | 'retried' | 'dead' }) =>
  of[state] === 0 ? (
    <>0</>
  ) : (
    <Button
      class="link"
      label={of[state].toLocaleString()}
      name={`${of[state]} ${state}: show them`}
      onClick={() => setQuery({ channel: of.channel, target: of.target, state })}
    />
  )

const STATES = [
  { value: '', label: 'all' },
  { value: 'waiting', label: 'waiting' },
  { value: 'retried', label: 'failed, will be tried again' },
  ...['dead', 'delivered', 'cancelled'].map(value => ({ value, label: value })),
]

/** The newest deliveries of the account, of one receiver or of all. */
const DeliveryList = () => {
  const [state, setState] = useQueryState('state')
  const [channel] = useQueryState('channel')
  const [target] = useQueryState('target')
  const [opened, setOpened] = useState<number>()
  const where = { size: '50', state, channel, target }
  const pages = usePages(JSON.stringify(where), async (before: string | undefined, signal) => {
    const { deliveries, next } = await getDeliveries({ ...where, before }, signal)
    return { rows: deliveries as Delivery[], next, of: where }
  })
  const isShown = JSON.stringify(pages.data?.of) === JSON.stringify(where)
  const rows = isShown ? pages.rows : []
  const close = () => {
    setOpened(undefined)
    pages.again()
  }
  return (
    <>
      <h2>Deliveries</h2>
      <div class="filters">
        <SelectField label="State" value={state} options={STATES} onChange={setState} />
        {target !== '' && (
          <p>
            To {channel} <Text value={target} most={80} brief />{' '}
            <Button class="link" label="Show all receivers" onClick={() => setQuery({ channel: '', target: '' })} />
          </p>
        )}
        <p>
          <Button label="Read again" onClick={pages.again} />
        </p>
      </div>
      <Await asked={{ ...pages, error: pages.error ?? pages.moreError }} failed="The deliveries cannot be read" />
      {isShown && rows.length === 0 && pages.isWhole && <p>There are no such deliveries.</p>}
      {rows.length > 0 && (
        <PlainTable label="Deliveries" columns={columnsFor(setOpened)} rows={rows} keyOf={({ id }) => id} />
      )}
      {pages.busy && <Busy label="Reading deliveries" />}
      {!pages.busy && isShown && !pages.isWhole && <Button label="Show older ones" onClick={pages.askMore} />}
      {opened !== undefined && <Attempts id={opened} onClose={close} />}
    </>
  )
}

const CLASSES: Record<string, string> = { delivered: 'good', dead: 'bad' }

const columnsFor = (open: (id: number) => void): Column<Delivery>[] => [
  { title: 'Created', cell: ({ createdAt }) => <Time value={createdAt} /> },
  {
    title: 'Receiver',
    cell: ({ channel, target }) => say`${channel} ${<Text value={target} most={60} brief />}`,
  },
  { title: 'Rule', align: 'right', cell: ({ rule }) => rule },
  { title: 'Message', cell: ({ type }) => type },
  {
    title: 'State',
    cell: ({ state, tries }) => (
      <span class={CLASSES[state]}>
        {state === 'queued' && tries > 0 ? `failed ${tries === 1 ? 'once' : `${tries} times`}` : state}
      </span>
    ),
  },
  {
    title: 'Last answer',
    cell: ({ lastStatus, lastError }) =>
      say`${lastStatus} ${lastError !== null && <Text value={lastError} most={120} brief />}`,
  },
  {
    title: 'What to do',
    cell: ({ id }) => <Button label="Attempts" name={`Show the attempts of delivery ${id}`} onClick={() => open(id)} />,
  },
]

/** Every attempt of a delivery, with the beginning of the receiver's answer. */
const Attempts = ({ id, onClose }: { id: number; onClose(): void }) => {
  const asked = useAsk(`delivery ${id}`, signal =>
    ask<Delivery & { attempts: Attempt[] }>(`alerting/deliveries/${id}`, { signal }),
  )
  return (
    <Dialog title={`Delivery ${id}`} onClose={onClose}>
      <Await asked={asked} busy="Reading the attempts">
        {({ type, channel, target, state, nextAt, attempts }) => (
          <>
            <p>{say`${type} to ${channel} ${<Text value={target} most={120} />}, ${state}.`}</p>
            {nextAt !== null && state === 'queued' && <p>{say`Next try: ${<Time value={nextAt} due />}`}</p>}
            {attempts.length === 0 && <p>It has not been tried yet.</p>}
            <ol class="attempts">
              {attempts.map(({ n, at, outcome, status, latencyMs, error, head }) => (
                <li key={n} value={n}>
                  <Time value={at} />: {outcome}
                  {status !== null && ` with status ${status}`}
                  {latencyMs !== null && ` after ${latencyMs.toLocaleString()} ms`}
                  {error !== null && (
                    <p class="bad">
                      <Text value={error} most={500} />
                    </p>
                  )}
                  {head && (
                    <pre>
                      <Text value={head} most={1_000} />
                    </pre>
                  )}
                </li>
              ))}
            </ol>
            {state !== 'queued' && (
              <p class="actions">
                <Button label="Send again" onClick={() => sendAgain(id, target).then(asked.again)} />
              </p>
            )}
          </>
        )}
      </Await>
    </Dialog>
  )
}

const sendDeadAgain = ({ channel, target, dead }: Destination) => {
  const text = `${plain(target)} will get ${count(dead, 'message')}. This cannot be undone.`
  const question = { title: 'Send dead deliveries again?', text, action: 'Send again' }
  return redeliver({ channel, target, dead: true }, question, said)
}

const sendAgain = (delivery: number, target: string) => {
  const text = `${plain(target)} will get this message once more. This cannot be undone.`
  return redeliver({ delivery }, { title: 'Send this delivery again?', text, action: 'Send again' }, said)
}

const said = (redelivered: number) =>
  redelivered === 0
    ? 'Nothing is to be sent again: it was sent meanwhile, or a retraction replaced it.'
    : `${count(redelivered, 'delivery', 'deliveries')} will be sent again.`
