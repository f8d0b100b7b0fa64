import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDevNews } from '../../../src/app/cli/format-news.ts'
import type { DevNews, DevStep } from '../../../src/dev/chain-news.ts'

const ALICE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const tx = {
  type: 'tx',
  block: 7,
  index: 0,
  time: '2026-11-21T15:42:32.000Z',
  hash: `0x${'1'.repeat(64)}`,
  from: ALICE,
  to: TOKEN,
  contract: null,
  created: null,
  method: null,
  selector: null,
  value: '0',
  call: null,
  gasUsed: null,
  status: true,
  failure: null,
  steps: [] as DevStep[],
} as const
const log = {
  block: 1234567,
  index: 0,
  logIndex: 0,
  time: '2026-11-21T15:42:32.000Z',
  transaction: tx.hash,
  address: TOKEN,
  contract: 'Token',
}
const TOPIC = `0x${'2'.repeat(64)}`
const artifacts = { type: 'artifacts', projects: [{ tool: 'Foundry', artifacts: '/p/out' }], contracts: 2 } as const

test('each piece of news is one line', () => {
  const lines: [DevNews, string][] = [
    [{ ...artifacts, again: false }, 'Decodes by the ABIs of 2 contracts in /p/out (Foundry).'],
    [{ ...artifacts, again: true }, 'Loaded the rebuilt ABIs of 2 contracts in /p/out (Foundry).'],
    [
      { ...artifacts, contracts: 0, again: false },
      'Found no artifacts in /p/out (Foundry) yet: build the project, and they are loaded.',
    ],
    [
      { ...artifacts, projects: [], contracts: 0, again: false },
      'There is no Foundry or Hardhat project in this folder: decodes by the bundled registry of signatures only.',
    ],
    [
      { type: 'waiting', node: 'http://n', why: 'ECONNREFUSED' },
      'Waiting for a node at http://n (ECONNREFUSED): start anvil or hardhat node there, or name another node by --rpc.',
    ],
    [{ type: 'back', node: 'http://n' }, 'The node at http://n is back.'],
    [
      { type: 'node', node: 'http://n', chainId: 31337, head: 4, from: 0, fork: null },
      'Follows chain 31337 at http://n from block 0 on; its head is block 4.',
    ],
    [
      { type: 'node', node: 'http://n', chainId: 1, head: 9, from: 8, fork: 7 },
      'Follows chain 1 at http://n from block 8 on, a fork at block 7; its head is block 9.',
    ],
    [{ type: 'rollback', to: 3 }, 'The chain went back to block 3: forgot the blocks after it.'],
    [{ type: 'rollback', to: -1 }, 'The chain was restarted: forgot all blocks, and starts over.'],
    [tx, `#7    15:42:32  tx     ${TOKEN}  from 0xf39F…2266  ${tx.hash}  ok`],
    [
      { ...tx, contract: 'Token', method: 'mint', selector: '0x12345678', status: false },
      `#7    15:42:32  tx     Token.mint()  from 0xf39F…2266  ${tx.hash}  FAILED`,
    ],
    [
      { ...tx, selector: '0x12345678', value: '1500000000000000000' },
      `#7    15:42:32  tx     ${TOKEN}.0x12345678() with 1.5 ether  from 0xf39F…2266  ${tx.hash}  ok`,
    ],
    [
      { ...tx, to: null, created: TOKEN, contract: 'Token', value: '25' },
      `#7    15:42:32  tx     new Token at ${TOKEN} with 25 wei  from 0xf39F…2266  ${tx.hash}  ok`,
    ],
    [
      { ...tx, to: null, status: false, value: '10000000000000000000' },
      `#7    15:42:32  tx     new contract with 10 ether  from 0xf39F…2266  ${tx.hash}  FAILED`,
    ],
    [
      {
        ...tx,
        contract: 'Token',
        call: 'burn(amount=5)',
        gasUsed: 34_567,
        status: false,
        failure: {
          error: 'TooPoor(available=3, required=5)',
          address: ALICE,
          contract: 'Vault',
          call: 'take(amount=5)',
        },
        steps: [
          {
            depth: 1,
            type: 'delegatecall',
            to: ALICE,
            contract: 'Vault',
            call: 'take(amount=5)',
            selector: '0x12345678',
            value: '0',
            gasUsed: 1_234,
            error: 'Out of gas',
          },
          {
            depth: 2,
            type: 'create',
            to: TOKEN,
            contract: null,
            call: null,
            selector: null,
            value: '25',
            gasUsed: null,
            error: null,
          },
        ],
      },
      [
        `#7    15:42:32  tx     Token.burn(amount=5)  from 0xf39F…2266  gas 34,567  ${tx.hash}  FAILED: TooPoor(available=3, required=5) in Vault.take(amount=5)`,
        '                  [delegatecall] Vault.take(amount=5)  gas 1,234  FAILED: Out of gas',
        `                    new contract at ${TOKEN} with 25 wei`,
      ].join('\n'),
    ],
    [
      { ...log, type: 'event', event: 'Said', text: 'Said(what=a\n\u001b[31mb)', error: null, probability: 1 },
      '#1234567  15:42:32  event  Token  Said(what=a [31mb)',
    ],
    [
      { ...log, type: 'event', contract: null, event: 'Said', text: null, error: 'data too short', probability: 1 },
      `#1234567  15:42:32  event  ${TOKEN}  Said  NOT DECODED: data too short`,
    ],
    [
      { ...log, type: 'log', topics: [TOPIC], data: '0x00' },
      `#1234567  15:42:32  log    Token  no ABI for topic ${TOPIC}, 1 byte of data`,
    ],
    [
      { ...log, type: 'log', topics: [], data: '0x' },
      '#1234567  15:42:32  log    Token  no ABI for a log without topics, 0 bytes of data',
    ],
  ]
  for (const [news, line] of lines) assert.equal(formatDevNews(news, { colours: false }), line)
})

test('colours are there where they are asked for, and take no part of the text', () => {
  const news = { ...tx, contract: 'Token', method: 'mint', selector: '0x12345678', status: false }
  const painted = formatDevNews(news, { colours: true })
  const ESC = String.fromCharCode(27)
  assert.ok(painted.endsWith(`${ESC}[31mFAILED${ESC}[0m`))
  assert.equal(painted.replaceAll(new RegExp(`${ESC}\\[\\d+m`, 'g'), ''), formatDevNews(news, { colours: false }))
})
