import { ask } from '../../api/client.ts'
import { useAsk } from '../../api/use-ask.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { sendAgain } from './redeliver.ts'
import type { Attempt, Delivery } from './wire.ts'

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
