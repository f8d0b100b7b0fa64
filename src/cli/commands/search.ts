import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { collectAtMost } from '../../lib/read.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { NO_ACCOUNT } from '../../search/service.ts'
import { findTarget, namedIn } from '../../search/target.ts'
import { command } from '../command.ts'
import { refusing } from '../refusing.ts'

export const search = command({
  name: 'search',
  usage: 'T/B/N ENTITY[,ENTITY] [JSON|-]',
  summary:
    'Runs the same query as POST …/es/<entity>/search/. With -, reads it from standard input. Several networks stand with commas between them.',
  settings: ['queryDeadline', 'readers', 'limit'],
  options: {},
  arity: [2, 3],
  run: async ({ services, config, args: [network = '', entities = '', query], streams, log, shutdown }) => {
    const service = await services.openSearch(config, { log, shutdown })
    const target = await refusing(() => findTarget(namedIn(network, service.networks), entities, service.networks()))
    const body =
      query === '-'
        ? await readBody(streams.stdin, config.limits)
        : query === undefined
          ? undefined
          : Buffer.from(query)
    const { status, body: answer } = await refusing(() =>
      service.search({ ...target, body, account: NO_ACCOUNT, signal: shutdown.signal }),
    )
    // Only the answer may reach the program that reads it.
    if (status >= 400) {
      streams.stderr.write(`${Buffer.from(await bytesOf(answer)).toString()}\n`)
      return status < 500 ? 2 : 1
    }
    await copy(answer, streams.stdout)
    streams.stdout.write('\n')
    return 0
  },
})

const readBody = async (stdin: Readable, limits: Limits): Promise<Buffer> => {
  const body = await collectAtMost(stdin, limits.body)
  if (!body) throw overLimit('body', limits, 'Standard input')
  return body
}

const bytesOf = async (answer: Uint8Array | ReadableStream<Uint8Array>): Promise<Uint8Array> =>
  answer instanceof ReadableStream ? buffer(answer as unknown as Readable) : answer

/** No faster than the reader takes it. */
const copy = async (answer: Uint8Array | ReadableStream<Uint8Array>, out: Writable) => {
  for await (const chunk of answer instanceof ReadableStream ? answer : [answer]) {
    if (!out.write(chunk)) await once(out, 'drain')
  }
}
