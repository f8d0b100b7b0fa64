import { useState } from 'preact/hooks'
import { confirm } from '../../parts/dialog.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Text } from '../../parts/text.tsx'
import { testRule } from './api.ts'
import { listAt } from './model.ts'
import type { Rule, TestAnswer } from './wire.ts'

interface Result {
  answer?: TestAnswer
  error?: unknown
}

/** Sends each alert of a stored rule once, marked as a test, and shows what the receivers answered. */
export const Test = ({ rule }: { rule: Rule }) => {
  const [{ answer, error }, setResult] = useState<Result>({})
  const [busy, setBusy] = useState(false)
  const count = listAt(rule, 'config.alerts').length
  const receivers = count === 1 ? 'its receiver' : `each of its ${count} receivers`
  const send = async () => {
    const text = `The newest document that matches goes to ${receivers}, marked as alert.test. What is sent cannot be taken back.`
    if (!(await confirm({ title: 'Send a test alert?', text, action: 'Send the test' }))) return
    setBusy(true)
    setResult(
      await testRule(rule.id)
        .then(answer => ({ answer }))
        .catch(error => ({ error })),
    )
    setBusy(false)
  }
  return (
    <section class="test" aria-label="Test of the receivers">
      <button type="button" disabled={busy} onClick={() => void send()}>
        {busy ? 'Sending …' : 'Send a test alert'}
      </button>
      {error !== undefined && <Fault title="The test failed" error={error} />}
      {answer && (
        <ul role="status">
          {answer.deliveries.map(({ action, type, target, delivered, status, error, latencyMs }) => (
            <li key={action}>
              {type} <Text value={target} />:{' '}
              <span class={delivered ? 'good' : 'bad'}>
                {delivered ? 'delivered' : 'not delivered'}
                {status !== null && `, HTTP ${status}`}
              </span>
              , {latencyMs.toLocaleString()} ms {error !== null && <Text value={error} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
