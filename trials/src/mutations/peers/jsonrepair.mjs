// Reads a file of JSON strings, one per line; writes one answer per line: {"text": …} or {"refused": …}.
import { readFileSync } from 'node:fs'
import { jsonrepair } from 'jsonrepair'

const installed = JSON.parse(readFileSync(new URL('./node_modules/jsonrepair/package.json', import.meta.url)))
const answers = [{ version: installed.version }]
for (const line of readFileSync(process.argv[2], 'utf8').split('\n')) {
  if (line === '') continue
  try {
    answers.push({ text: jsonrepair(JSON.parse(line)) })
  } catch (error) {
    answers.push({ refused: error.name })
  }
}
process.stdout.write(answers.map((answer) => JSON.stringify(answer)).join('\n') + '\n')
