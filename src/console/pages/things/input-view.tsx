import type { JsonObject } from '../../api/json.ts'
import { textAt } from '../../api/json.ts'
import { Copy } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Text } from '../../parts/text.tsx'
import { Args, Raw } from './args.tsx'
import { wordsOf } from './read.ts'
import type { Step } from './steps.ts'

/** Words that are drawn; the rest is in the raw bytes. */
const MOST_WORDS = 128

/** The call data of a transaction, decoded and raw. */
export const InputView = ({ network, tx, call }: { network: string; tx: JsonObject; call: Step | undefined }) => {
  const input = textAt(tx, 'input') ?? '0x'
  if (input === '0x') return <Empty title="The transaction has no input" />
  const isCreation = textAt(tx, 'to') === undefined
  const bytes = (input.length - 2) / 2
  return (
    <>
      {isCreation && <p>Initialisation code of a new contract.</p>}
      {!isCreation && (
        <section aria-label="Decoded">
          <h2>Decoded</h2>
          {call?.method === undefined ? (
            <p class="dim">
              No function is known by the selector <code>{input.slice(0, 10)}</code>.
            </p>
          ) : (
            <p>
              <strong>
                <Text value={call.method} most={120} />
              </strong>{' '}
              <code class="dim">{call.selector}</code>
            </p>
          )}
          {call && <Args network={network} args={call.args} />}
        </section>
      )}
      <section aria-label="Raw">
        <h2>
          Raw, {bytes.toLocaleString()} bytes <Copy text={input} what="the input" />
        </h2>
        {isCreation || bytes < 4 ? <Raw hex={input} most={2_000} /> : <Words input={input} />}
      </section>
    </>
  )
}

const Words = ({ input }: { input: string }) => {
  const words = wordsOf(input, 4)
  return (
    <>
      <ol class="words" start={0}>
        {words.slice(0, MOST_WORDS).map((word, i) => (
          <li key={i}>
            <code>{word}</code>
          </li>
        ))}
      </ol>
      {words.length > MOST_WORDS && <Raw hex={input} />}
    </>
  )
}
