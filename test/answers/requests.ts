import type { Answer, Ask } from './ask.ts'
import { brokenRequests } from './broken.ts'
import {
  clauseRequests,
  otherRequests,
  relationRequests,
  resumedRequests,
  scenarioRequests,
  streamRequests,
  wholeRequests,
} from './by-hand.ts'
import { type Drawn, drawnFrom } from './drawn.ts'
import { fieldRequests, type Named } from './fields.ts'
import { joinRequests, mixedRequests, randomRequests, sortRequests, sourceRequests } from './random.ts'

const WORDS = [
  '',
  'tra',
  'transfer',
  'Trasnfer',
  'wide',
  'sha',
  'bar',
  'moor',
  'bl',
  'gas',
  'gold',
  'T1',
  'silo',
  '0x11',
  'value num',
  '*',
]

/** What a content is asked, drawn from what it holds. */
const REQUESTS: Record<string, (drawn: Drawn) => Named[]> = {
  odd: drawn => [
    ...fieldRequests(drawn),
    ...sortRequests(),
    ...clauseRequests(),
    ...wholeRequests(drawn, 250),
    ...streamRequests(),
    ...relationRequests(drawn),
    ...sourceRequests(40),
    ...randomRequests(drawn, 90),
    ...mixedRequests(drawn, 120),
    ...joinRequests(drawn, 40),
    ...otherRequests(drawn, WORDS),
  ],
  demo: drawn => [
    ...wholeRequests(drawn, 100),
    ...streamRequests(),
    ...sourceRequests(8),
    ...randomRequests(drawn, 60),
    ...mixedRequests(drawn, 60),
    ...joinRequests(drawn, 25),
    ...otherRequests(drawn, WORDS),
  ],
  generated: drawn => [
    ...wholeRequests(drawn, 50),
    ...resumedRequests(['log', 'trace', 'tx,call']),
    ...sortRequests().filter(([name], i) => i % 4 === 0 && /^(tx|log|event|trace|call) /.test(name)),
    ...randomRequests(drawn, 40),
    ...mixedRequests(drawn, 40),
    ...joinRequests(drawn, 15),
    ...otherRequests(drawn, WORDS),
  ],
  full: drawn => [...wholeRequests(drawn, 50), ...sortRequests(), ...sourceRequests(25), ...randomRequests(drawn, 25)],
  calls: drawn => [...wholeRequests(drawn, 100), ...randomRequests(drawn, 30), ...joinRequests(drawn, 20)],
  untraced: drawn => [...wholeRequests(drawn, 50), ...randomRequests(drawn, 15), ...otherRequests(drawn, WORDS)],
  redecoded: drawn => [
    ...wholeRequests(drawn, 100),
    ...randomRequests(drawn, 50),
    ...joinRequests(drawn, 15),
    ...mixedRequests(drawn, 40),
  ],
  branched: drawn => [
    ...wholeRequests(drawn, 50),
    ...randomRequests(drawn, 30),
    ...joinRequests(drawn, 15),
    ...otherRequests(drawn, WORDS),
  ],
  emptied: drawn => [
    ...clauseRequests(),
    ...wholeRequests(drawn, 50),
    ...streamRequests(),
    ...sortRequests().filter((_, i) => i % 4 === 0),
  ],
  scenario: () => scenarioRequests(),
}

export const requestsOf = (content: string, answerTo: (ask: Ask) => Answer): Named[] => {
  const requests = REQUESTS[content]!(drawnFrom(answerTo))
  return [...requests, ...brokenRequests(requests, Math.ceil(requests.length / 16))]
}
