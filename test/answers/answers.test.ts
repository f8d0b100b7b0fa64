import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAsker } from './ask.ts'
import { differences, type Line, readFixture, writeFixture } from './fixture.ts'
import { CONTENTS } from './stores.ts'

/** What is as likely or as near comes in the order in which names and codes were stored, which is that of arrival. */
const BY_ARRIVAL: readonly string[] = ['suggest', 'similar']

/**
 * Answers are, byte for byte, those that the fixture keeps, whatever way a store came by what it holds; of further ways a third is asked, each
 * time another. `UPDATE=1 npm test -- answers` draws
 * the requests anew and writes down what is answered now.
 */
for (const [content, builds] of Object.entries(CONTENTS)) {
  describe(`answers of what is ${content}`, () => {
    for (const [n, [build, open]] of Object.entries(builds).entries()) {
      const isFirst = n === 0
      it(`after ${build}`, async () => {
        const store = await open()
        try {
          const answerTo = createAsker(store)
          if (process.env.UPDATE && isFirst) {
            const { requestsOf } = await import('./requests.ts')
            const requests = requestsOf(content, answerTo)
            writeFixture(
              content,
              requests.map(([name, ask]) => ({ name, ask, answer: answerTo(ask) })),
            )
          }
          const isAsked = ({ ask }: Line, i: number) => isFirst || (i % 3 === n % 3 && !BY_ARRIVAL.includes(ask.op))
          const lines = readFixture(content).filter(isAsked)
          assert.ok(lines.length > 0, 'there is a fixture')
          const found = differences(lines, answerTo)
          if (found.length > 0) assert.fail(found.join('\n\n'))
        } finally {
          store.close()
        }
      })
    }
  })
}
