import { at, isObject, textAt } from '../../api/json.ts'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { listAt, saying, TARGETS, targetOf } from './model.ts'
import { networkOf, type Rule } from './wire.ts'

const firesWhen = (confirmations: Rule['maxConfirmationCount']): string => {
  if (confirmations === 0) return 'at once'
  if (typeof confirmations === 'string') return `once the block of the match is ${confirmations}`
  return `${confirmations.toLocaleString()} blocks after the match`
}

/** What a rule says, in sentences. */
export const Facts = ({ rule }: { rule: Rule }) => {
  const target = targetOf(rule)
  const description = textAt(rule, 'description')
  return (
    <dl class="facts">
      <dt>Looks at</dt>
      <dd>
        {TARGETS.find(({ type }) => type === target)?.label ?? target} of <Text value={networkOf(rule)} />
        {rule.startBlock !== null && `, from block ${rule.startBlock.toLocaleString()} on`}
      </dd>
      <dt>Conditions</dt>
      <dd>
        <ul>
          {listAt(rule, 'config.targetMap').map((condition, i) => (
            <li key={i}>
              <Text value={saying(condition)} />
            </li>
          ))}
        </ul>
      </dd>
      <dt>Fires</dt>
      <dd>
        {firesWhen(rule.maxConfirmationCount)}; has fired {rule.triggerCount.toLocaleString()}{' '}
        {rule.triggerCount === 1 ? 'time' : 'times'}
      </dd>
      <dt>Notifies</dt>
      <dd>
        <ul>
          {listAt(rule, 'config.alerts').map((action, i) => (
            <li key={i}>
              {textAt(action, 'type')}: <Text value={receiverOf(action)} />
            </li>
          ))}
        </ul>
      </dd>
      {description !== undefined && description !== '' && (
        <>
          <dt>Description</dt>
          <dd>
            <Text value={description} />
          </dd>
        </>
      )}
      <dt>Changed</dt>
      <dd>
        <Time value={rule.updatedAt} />
      </dd>
    </dl>
  )
}

/** Without what opens it: others may look over a shoulder. */
const receiverOf = (action: unknown): string => {
  if (!isObject(action as never)) return ''
  const recipients = at(action as never, 'parameters.recipients')
  if (Array.isArray(recipients)) return recipients.join(', ')
  const url = textAt(action as never, 'parameters.url') ?? ''
  try {
    const { origin, pathname } = new URL(url)
    return textAt(action as never, 'type') === 'Chat' ? origin : origin + decodeURI(pathname)
  } catch {
    return url
  }
}
