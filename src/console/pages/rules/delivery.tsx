import { useState } from 'preact/hooks'
import { messageOf } from '../../api/client.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { announce } from '../../parts/toast.tsx'
import { plain } from '../../parts/visible.ts'
import { redeliver } from './api.ts'
import type { Attempt, Delivery } from './wire.ts'

/** A delivery with every attempt, which can be sent again. */
export const DeliveryView = ({ delivery, again }: { delivery: Delivery; again(): void }) => {
  const { id, type, channel, target, state, lastError, nextAt, attempts = [] } = delivery
  return (
    <article class="delivery" aria-label={`Delivery ${id}`}>
      <p>
        <strong>{state}</strong>: {type} by {channel} to <Text value={target} />
      </p>
      {state === 'queued' && nextAt !== null && (
        <p class="dim">
          Next attempt: <Time value={nextAt} due />
        </p>
      )}
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
      {canRepeat(delivery) && <Again delivery={delivery} again={again} />}
    </article>
  )
}

/** Tests and what was cancelled are never sent again. */
const canRepeat = ({ state, type, tries }: Delivery) =>
  type !== 'alert.test' && state !== 'cancelled' && (state !== 'queued' || tries > 0)

const AttemptView = ({ attempt: { at, outcome, status, error, head, latencyMs, nextAt } }: { attempt: Attempt }) => (
  <li>
    <Time value={at} brief />: {outcome}
    {status !== null && `, HTTP ${status}`}, {latencyMs.toLocaleString()} ms
    {error !== null && (
      <>
        {', '}
        <span class="bad">
          <Text value={error} />
        </span>
      </>
    )}
    {head !== null && head !== '' && (
      <>
        , answered:{' '}
        <q class="head">
          <Text value={head} />
        </q>
      </>
    )}
    {nextAt !== null && (
      <span class="dim">
        {' '}
        Next attempt due <Time value={nextAt} brief />
      </span>
    )}
  </li>
)

const Again = ({ delivery: { id, target }, again }: { delivery: Delivery; again(): void }) => {
  const [busy, setBusy] = useState(false)
  const send = async () => {
    const text = `The message goes to ${plain(target)} once more. What is sent cannot be taken back.`
    if (!(await confirm({ title: 'Send the delivery again?', text, action: 'Send again' }))) return
    setBusy(true)
    await sendAgain({ delivery: id })
    setBusy(false)
    again()
  }
  return (
    <button type="button" disabled={busy} onClick={() => void send()}>
      Send again
    </button>
  )
}

export const sendAgain = async (which: Parameters<typeof redeliver>[0]) => {
  try {
    const { redelivered } = await redeliver(which)
    const what = redelivered === 1 ? '1 delivery' : `${redelivered.toLocaleString()} deliveries`
    announce(redelivered === 0 ? 'There is nothing to send again.' : `Sending ${what} again.`)
  } catch (error) {
    announce(plain(messageOf(error)), 'error')
  }
}

/** All dead deliveries of a rule, once the user is sure. */
export const sendDeadOf = async (rule: number) => {
  const text = 'Every dead delivery of this rule is sent once more. What is sent cannot be taken back.'
  if (await confirm({ title: 'Send all dead deliveries again?', text, action: 'Send all again' }))
    await sendAgain({ rule, dead: true })
}
