import type { TestContext } from 'node:test'
import { createRpcSource, type RpcSourceOptions } from '../../src/chain/rpc-source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { type FakeNode, fastClock } from './node.ts'

export const never = new AbortController().signal

export type TestSource = ReturnType<typeof createRpcSource>

/** A source of some nodes, whose time goes fast; it is closed after the test. */
export const sourceOf = (
  t: TestContext,
  nodes: Pick<FakeNode, 'url'> | readonly Pick<FakeNode, 'url'>[],
  options: Partial<RpcSourceOptions> = {},
): TestSource => {
  const urls = [nodes].flat().map(it => it.url)
  const source = createRpcSource({ urls, clock: fastClock(), ...options })
  t.after(() => source.close())
  return source
}

export const rangeOf = async (
  source: Pick<TestSource, 'range'>,
  from: number,
  to: number,
  { run = 8, signal = never } = {},
): Promise<RawBlock[]> => {
  const blocks: RawBlock[] = []
  for await (const some of source.range({ from, to, order: 'oldest', run, signal })) blocks.push(...some)
  return blocks
}
