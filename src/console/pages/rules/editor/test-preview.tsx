import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../api/json.ts'
import { Fault } from '../../../parts/fault.tsx'
import { JsonView } from '../../../parts/json-view.tsx'
import { Text } from '../../../parts/text.tsx'
import { faultsOf, previewTest } from '../api.ts'
import type { PreviewAnswer, PreviewedMessage } from '../wire.ts'

interface Result {
  /** The rule that it is of. */
  of: JsonObject
  answer?: PreviewAnswer
  error?: unknown
}

/** What the rule as it is written would send; nothing is sent, and the rule need not be saved. */
export const TestPreview = ({ rule, disabled }: { rule: JsonObject; disabled: boolean }) => {
  const [result, setResult] = useState<Result>()
  const [busy, setBusy] = useState(false)
  const ask = async () => {
    setBusy(true)
    setResult(
      await previewTest(rule)
        .then(answer => ({ of: rule, answer }))
        .catch((error: unknown) => ({ of: rule, error })),
    )
    setBusy(false)
  }
  // What was asked of an earlier text says nothing of this one.
  const { answer, error } = result?.of === rule ? result : {}
  const faults = faultsOf(error)
  return (
    <section class="test" aria-label="What would be sent">
      <button type="button" disabled={busy || disabled} onClick={() => void ask()}>
        {busy ? 'Looking …' : 'Test: show what would be sent'}
      </button>
      {error !== undefined && faults.length === 0 && <Fault title="The rule cannot be tested" error={error} />}
      {faults.length > 0 && (
        <ul class="fault" role="alert">
          {faults.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>
                <Text value={path} />
              </code>
              : <Text value={message} />
            </li>
          ))}
        </ul>
      )}
      {answer && (
        <div role="status">
          <p class="dim">
            Nothing was sent. For {answer.entity._type} <Text value={answer.entity._id} />:
          </p>
          {answer.messages.map(message => (
            <Message key={message.action} message={message} />
          ))}
        </div>
      )}
    </section>
  )
}

const Message = ({ message }: { message: PreviewedMessage }) => {
  const { action, type, method, url = '', body, to, subject = '', text = '', refused } = message
  if (refused !== undefined)
    return (
      <p class="bad">
        {type}: nothing would be sent, since <Text value={refused} />.
      </p>
    )
  if (to)
    return (
      <>
        <p>
          {type} to <Text value={to.join(', ')} />: <Text value={subject} />
        </p>
        <pre>
          {text
            .trim()
            .split('\n')
            .map((line, i) => (
              <span key={i}>
                <Text value={line} brief />
                {'\n'}
              </span>
            ))}
        </pre>
      </>
    )
  return (
    <>
      <p>
        {type}: {method} <Text value={url} />
      </p>
      {body && <JsonView value={body} label={`The body of alert ${action + 1}`} />}
    </>
  )
}
