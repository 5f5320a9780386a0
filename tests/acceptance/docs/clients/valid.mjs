// Says what is wrong with the documents that are named; nothing, if they are as OpenAPI 3.1 wants them.
import { Validator } from "@seriousme/openapi-schema-validator";

for (const file of process.argv.slice(2)) {
  const validator = new Validator();
  const found = await validator.validate(file);
  if (!found.valid || validator.version !== "3.1") {
    console.log(file, validator.version, JSON.stringify(found.errors));
    process.exitCode = 1;
  }
}
