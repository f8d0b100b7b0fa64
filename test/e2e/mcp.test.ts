import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { TokenScope } from '../../src/accounts/index.ts'
import { countTokens, MAX_TOKENS } from '../../src/mcp/fit.ts'
import { EXAMPLES } from '../../src/mcp/guide.ts'
import { LARGE_TRANSFERS, QUESTIONS } from '../mcp/questions.ts'
import { after, chainsieve, PROGRAM, serve, succeed, tempFolder } from './program.ts'

/** The official client, against the real program on the demo chain. */
const network = 'ethereum/demo/local'

const connect = async (url: string, token: string, mode: 'auto' | 'legacy' = 'auto') => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

/** Calls a tool; the answer is below the cap, and its data is there once. */
const callTool = async (client: Client, name: string, input: Record<string, unknown> = {}) => {
  const result = await client.callTool({ name, arguments: input })
  const content = result.content as { text: string }[]
  assert.ok(!result.isError, `${name} ${JSON.stringify(input)}: ${content[0]?.text}`)
  assert.ok(countTokens(JSON.stringify(result)) < MAX_TOKENS, `${name} answers too much`)
  assert.ok(content[0]!.text.length < 200, 'the data is not sent twice')
  return result.structuredContent as Record<string, unknown>
}

test('agents ask over HTTP', async t => {
  const data = tempFolder(t)
  const server = await serve(t, data)
  const url = `${server.url}/mcp`
  const tokenWith = async (...scopes: TokenScope[]) =>
    (await succeed(t, ['token', 'create', '--account', 'test', '--scope', scopes.join()], { data })).trim()

  for (const mode of ['auto', 'legacy'] as const)
    await t.test(`the official client finds tools, resources and prompts (${mode})`, async () => {
      const client = await connect(url, server.token, mode)
      const { tools } = await client.listTools()
      assert.equal(tools.length, 15)
      const bytes = Buffer.byteLength(JSON.stringify({ tools }))
      assert.ok(bytes <= 9_000, `3,000 tokens, of three bytes each, and not ${bytes} bytes`)
      for (const { annotations, outputSchema, name } of tools) {
        assert.equal(annotations?.readOnlyHint, !['rule_create', 'rule_pause'].includes(name), name)
        assert.equal(outputSchema?.type, 'object')
      }
      const { resources } = await client.listResources()
      assert.equal(resources.length, 10)
      for (const { uri } of resources) {
        const [read] = (await client.readResource({ uri })).contents as { text: string }[]
        assert.ok(countTokens(read!.text) < MAX_TOKENS, uri)
      }
      const { prompts } = await client.listPrompts()
      assert.equal(prompts.length, 5)
      for (const { name, arguments: args = [] } of prompts) {
        const given = Object.fromEntries(args.map(it => [it.name, `<${it.name}>`]))
        const { messages } = await client.getPrompt({ name, arguments: given })
        for (const value of Object.values(given)) assert.ok(JSON.stringify(messages).includes(value), name)
      }
      await client.close()
    })

  await t.test('thirty questions need at most two calls each', async () => {
    const client = await connect(url, server.token)
    assert.equal(QUESTIONS.length, 30)
    for (const { ask, calls, answer } of QUESTIONS) {
      assert.ok(calls.length <= 2, ask)
      let found: Record<string, unknown> = {}
      for (const call of calls) {
        const [tool, input] = typeof call === 'function' ? call(found) : call
        found = await callTool(client, tool, input)
      }
      assert.match(JSON.stringify(found), answer, ask)
    }
    for (const { tool, call } of EXAMPLES) await callTool(client, tool, call)
    await client.close()
  })

  await t.test('what agents changed is in the audit trail', async () => {
    const client = await connect(url, server.token)
    const { rules } = (await callTool(client, 'rule_list')) as { rules: { id: string }[] }
    assert.equal((await callTool(client, 'rule_pause', { id: rules[0]!.id })).enabled, false)
    assert.equal((await callTool(client, 'rule_pause', { id: rules[0]!.id, paused: false })).enabled, true)
    const trail = await succeed(t, ['audit', '--json'], { data })
    for (const action of ['agent rule_create', 'agent rule_pause', 'rule create'])
      assert.ok(trail.includes(`"${action}"`), action)
    await client.close()
  })

  await t.test('pages follow each other without gaps', async () => {
    const client = await connect(url, server.token)
    const seen = new Set<unknown>()
    let cursor: unknown
    do {
      const input = {
        network,
        entity: 'tx',
        query: 'blockNumber.num:[0 TO 60]',
        size: 50,
        sort: 'gasUsed:desc',
        cursor,
      }
      const page = (await callTool(client, 'search', input)) as { rows: unknown[][]; cursor?: string; total: string }
      for (const [id] of page.rows) seen.add(id)
      cursor = page.cursor
      if (cursor === undefined) assert.equal(seen.size, Number(page.total))
    } while (cursor !== undefined)
    await client.close()
  })

  await t.test('a rule that was not simulated is not stored', async () => {
    const client = await connect(url, server.token)
    const { simulated } = await callTool(client, 'rule_simulate', { network, rule: LARGE_TRANSFERS })
    const { targetMap } = LARGE_TRANSFERS
    for (const [given, rule] of [
      ['', LARGE_TRANSFERS],
      [simulated, { ...LARGE_TRANSFERS, targetMap: targetMap.slice(0, 2) }],
    ]) {
      const input = { network, rule, simulated: given }
      const { isError, content } = await client.callTool({ name: 'rule_create', arguments: input })
      assert.equal(isError, true)
      assert.match(JSON.stringify(content), /was not simulated/)
    }
    await client.close()
  })

  await t.test('a token sees what its scopes allow', async () => {
    const nobody = await connect(url, await tokenWith('admin'))
    assert.deepEqual((await nobody.listTools()).tools, [])
    assert.deepEqual((await nobody.listResources()).resources, [])
    assert.deepEqual((await nobody.listPrompts()).prompts, [])
    for (const name of ['networks', 'search', 'rule_list']) {
      const { isError, content } = await nobody.callTool({ name, arguments: { network, entity: 'tx' } })
      assert.equal(isError, true)
      assert.match(JSON.stringify(content), /needs a token with the scope/)
    }
    const reader = await connect(url, await tokenWith('search'))
    const names = (await reader.listTools()).tools.map(({ name }) => name)
    assert.ok(names.includes('search') && !names.some(name => name.startsWith('rule_')))
    await assert.rejects(connect(url, 'cs_unknown'))
    assert.equal((await server.send('/mcp', '{}', { headers: { origin: 'https://evil.example' } })).status, 400)
    const ruler = await connect(url, await tokenWith('rules'))
    const targetMap = [{ name: 'event', operator: 'Equals', value: 'Transfer' }]
    const rule = { name: 'transfers', targetType: 'Event', targetMap }
    const simulated = await ruler.callTool({ name: 'rule_simulate', arguments: { network, rule } })
    assert.equal(simulated.isError, undefined)
    const list = await server.send('/mcp', JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]))
    assert.equal(list.status, 400)
    assert.match(await list.text(), /send each by itself/)
    await Promise.all([nobody.close(), reader.close(), ruler.close()])
  })

  await t.test('older clients, and those that show texts alone, have all data in the text', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'networks', arguments: {} } }
    const accept = 'application/json, text/event-stream'
    for (const [path, version] of [
      ['/mcp', '2025-03-26'],
      ['/mcp?text=true', '2025-11-25'],
    ] as const) {
      const headers = { accept, 'mcp-protocol-version': version }
      const text = await (await server.send(path, body, { headers })).text()
      assert.match(text, /ethereum\/demo\/local/)
      assert.ok(!text.includes('structuredContent'))
    }
  })

  await t.test('fifty sessions at once', async () => {
    const mode = (i: number) => (i % 2 === 0 ? 'auto' : 'legacy')
    const clients = await Promise.all(Array.from({ length: 50 }, (_, i) => connect(url, server.token, mode(i))))
    const totals = await Promise.all(
      clients.map(async (client, i) => {
        const found = await callTool(client, 'search', { network, entity: 'tx', query: `blockNumber.num:${i + 100}` })
        return Number(found.total)
      }),
    )
    const wanted = await Promise.all(
      totals.map((_, i) => server.total(network, 'tx', { term: { 'blockNumber.num': i + 100 } })),
    )
    assert.deepEqual(totals, wanted)
    await Promise.all(clients.map(client => client.close()))
  })
})

test('agents ask over standard input and output', async t => {
  const data = tempFolder(t)
  const server = await serve(t, data)
  const [command = '', ...before] = PROGRAM
  const connectStdio = async (args: string[], mode: 'auto' | 'legacy', env: Record<string, string> = {}) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StdioClientTransport({ command, args: [...before, 'mcp', ...args], env }))
    after(t, () => client.close())
    return client
  }

  for (const mode of ['auto', 'legacy'] as const)
    await t.test(`at a server, with the rights of a token (${mode})`, async () => {
      const client = await connectStdio(['--server', server.url], mode, { CHAINSIEVE_TOKEN: server.token })
      assert.equal((await client.listTools()).tools.length, 15)
      const { simulated } = await callTool(client, 'rule_simulate', { network, rule: LARGE_TRANSFERS })
      const { id } = await callTool(client, 'rule_create', { network, rule: LARGE_TRANSFERS, simulated })
      assert.match(String(id), /^\d+$/)
      await client.close()
    })

  await t.test('on a data folder, which is searched', async () => {
    const client = await connectStdio(['--data', data], 'auto')
    const names = (await client.listTools()).tools.map(({ name }) => name)
    assert.equal(names.length, 10)
    for (const { calls, answer, ask } of QUESTIONS) {
      const [first] = calls
      if (typeof first === 'function' || calls.length > 1 || !names.includes(first![0])) continue
      assert.match(JSON.stringify(await callTool(client, ...first!)), answer, ask)
    }
    await client.close()
  })

  await t.test('without a token, or with a wrong one, it ends and says why', async () => {
    const wrong = await chainsieve(t, ['mcp', '--server', server.url, '--token', 'cs_wrong'])
    assert.equal(wrong.code, 1)
    assert.match(wrong.err, /does not know the token/)
    const none = await chainsieve(t, ['mcp', '--server', server.url])
    assert.equal(none.code, 2)
    assert.match(none.err, /--server needs a token/)
  })
})
