import type { ComponentChildren } from 'preact'
import { useAction, useEvery, useGet, usePages } from '../../api/ask.ts'
import type { AttemptAnswer, Delivery } from '../../api/wire.ts'
import { setQuery, useQueryState } from '../../browser/router.tsx'
import { Await, Empty } from '../../parts/answer.tsx'
import { Aside, Button, type Option, Select } from '../../parts/controls.tsx'
import { visibleText } from '../../parts/format.ts'
import { type Column, PagedList } from '../../parts/table.tsx'
import { dim, say, Text, Time } from '../../parts/text.tsx'
import { confirmRedelivery, getDeliveries } from './api.ts'

export const REFRESH_MS = 3_000

/** Filter and open row of a list, kept in the address. */
export const useChosen = (options: readonly Option[]) => {
  const [typed, setState] = useQueryState('state')
  const state = options.find(({ value }) => value === typed)?.value ?? ''
  const [open] = useQueryState('open')
  return {
    state,
    choice: <Select aria-label="State" value={state} options={options} onChange={setState} />,
    open,
    onOpen: ({ id }: { id: string | number }) => setQuery({ open: String(id) }, { replace: open !== '' }),
    keyOf: ({ id }: { id: string | number }) => String(id),
  }
}

export const closeRow = () => setQuery({ open: '' })

export const toneOf = (state: string) =>
  state === 'confirmed' || state === 'delivered' ? 'good' : state === 'retracted' || state === 'dead' ? 'bad' : 'dim'

const DELIVERY_STATE_OPTIONS = [
  { value: '', label: 'All states' },
  { value: 'queued', label: 'queued' },
  { value: 'waiting', label: 'queued, not tried yet' },
  { value: 'retried', label: 'queued after a failure' },
  ...['delivered', 'dead', 'cancelled', 'silenced'].map(value => ({ value, label: value })),
]

interface DeliveriesProps {
  /** API filter; empty: the whole account. */
  of: { rule?: string; channel?: string; target?: string }
  children?: (again: () => void) => ComponentChildren
}

/** Deliveries, newest first, with details of the open one. */
export const Deliveries = ({ of, children }: DeliveriesProps) => {
  const { state, choice, open, ...rest } = useChosen(DELIVERY_STATE_OPTIONS)
  const ask = async (before: string | undefined, signal: AbortSignal) => {
    const { deliveries, next } = await getDeliveries({ ...of, state, size: '100', before }, signal)
    return { rows: deliveries, next }
  }
  const pages = usePages(JSON.stringify([of, state]), ask, REFRESH_MS)
  return (
    <>
      <div class="actions">
        {choice}
        {children?.(pages.again)}
      </div>
      <PagedList
        {...{ pages, open, ...rest }}
        label="Deliveries"
        what="the deliveries"
        columns={DELIVERY_COLUMNS.filter(({ title }) => title !== 'Rule' || of.rule === undefined)}
        empty={<Empty title={state === '' ? 'No deliveries yet' : 'No delivery is in this state'} />}
      >
        {/^\d+$/.test(open) && <OpenDelivery key={open} id={Number(open)} again={pages.again} />}
      </PagedList>
    </>
  )
}

const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: 'State', width: '10ch', isMain: true, cell: ({ state }) => <span class={toneOf(state)}>{state}</span> },
  { title: 'Created', width: '21ch', isMain: true, cell: it => <Time value={it.createdAt} brief /> },
  {
    title: 'Last answer',
    width: 'minmax(16ch, 1fr)',
    cell: ({ lastStatus, lastError }) => (
      <>
        {lastStatus !== null && `HTTP ${lastStatus} `}
        {lastError !== null && <Text value={lastError} brief />}
      </>
    ),
  },
  { title: 'Type', width: '16ch', cell: ({ type }) => type },
  { title: 'Rule', width: '6ch', align: 'right', cell: ({ rule }) => rule },
  {
    title: 'Receiver',
    width: 'minmax(20ch, 1fr)',
    cell: ({ channel, target }) => say`${channel} ${<Text value={target} brief />}`,
  },
  { title: 'Tries', width: '6ch', align: 'right', cell: ({ tries }) => String(tries) },
]

const OpenDelivery = ({ id, again }: { id: number; again(): void }) => {
  const asked = useGet<Delivery>(`alerting/deliveries/${id}`)
  useEvery(REFRESH_MS, asked.again)
  const both = () => {
    asked.again()
    again()
  }
  return (
    <Aside what="delivery" title={`Delivery ${id}`} onClose={closeRow}>
      <Await asked={asked} busy="Reading the attempts">
        {delivery => <DeliveryView delivery={delivery} again={both} />}
      </Await>
    </Aside>
  )
}

/** A delivery with its attempts and a button to resend. */
export const DeliveryView = ({ delivery, again }: { delivery: Delivery; again(): void }) => {
  const { id, type, channel, target, state, tries, lastError, nextAt, attempts = [] } = delivery
  const text = `The message goes to ${visibleText(target)} once more. What is sent cannot be taken back.`
  const question = { title: 'Send the delivery again?', text, action: 'Send again' }
  const { busy, run: send } = useAction(async () => {
    if (await confirmRedelivery({ delivery: id }, question)) again()
  })
  // Tests and cancelled deliveries are not resent.
  const canRepeat = type !== 'alert.test' && state !== 'cancelled' && (state !== 'queued' || tries > 0)
  return (
    <article class="delivery" aria-label={`Delivery ${id}`}>
      <p>{say`${<strong>{state}</strong>}: ${type} by ${channel} to ${<Text value={target} />}`}</p>
      {state === 'queued' && nextAt !== null && <p class="dim">{say`Next attempt: ${<Time value={nextAt} due />}`}</p>}
      {attempts.length === 0 && lastError !== null && (
        <p class="bad">
          <Text value={lastError} />
        </p>
      )}
      {attempts.length > 0 && (
        <ol class="attempts" aria-label="Attempts">
          {attempts.map(attempt => (
            <AttemptView key={attempt.n} attempt={attempt} />
          ))}
        </ol>
      )}
      {canRepeat && <Button label="Send again" disabled={busy} onClick={send} />}
    </article>
  )
}

const AttemptView = ({
  attempt: { at, outcome, status, error, head, latencyMs, nextAt },
}: {
  attempt: AttemptAnswer
}) => (
  <li>
    <Time value={at} brief />: {outcome}
    {status !== null && `, HTTP ${status}`}, {latencyMs?.toLocaleString()} ms
    {error !== null && ', '}
    {error !== null && (
      <span class="bad">
        <Text value={error} />
      </span>
    )}
    {head && ', answered: '}
    {head && (
      <q class="head">
        <Text value={head} />
      </q>
    )}
    {nextAt !== null && dim` Next attempt due ${<Time value={nextAt} brief />}`}
  </li>
)

export const sendDeadOf = (rule: number) => {
  const text = 'Every dead delivery of this rule is sent once more. What is sent cannot be taken back.'
  return confirmRedelivery(
    { rule, dead: true },
    { title: 'Send all dead deliveries again?', text, action: 'Send all again' },
  )
}
