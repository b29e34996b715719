-- A record of schema version 1, as the state of 0.2.0 before several gateways wrote it: eight turns in five sessions, one of them erased,
-- a lesson from three corrections, and a feedback. Tests put it into a schema of their own.
CREATE SCHEMA version_1;
CREATE TABLE version_1.block_uses (
    session text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE version_1.blocks (
    hash text NOT NULL COLLATE pg_catalog."C",
    codec smallint NOT NULL,
    sum bytea NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY version_1.blocks ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE version_1.bodies (
    month integer NOT NULL,
    seq bigint NOT NULL,
    codec smallint NOT NULL,
    sum bytea NOT NULL,
    body bytea NOT NULL
)
PARTITION BY LIST (month);
CREATE TABLE version_1.bodies_202611 (
    month integer NOT NULL,
    seq bigint NOT NULL,
    codec smallint NOT NULL,
    sum bytea NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY version_1.bodies_202611 ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE version_1.chains (
    session text NOT NULL COLLATE pg_catalog."C",
    link text NOT NULL,
    n bigint NOT NULL
);
CREATE TABLE version_1.fact_keys (
    key text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);
CREATE TABLE version_1.facts (
    month integer NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL,
    subject text COLLATE pg_catalog."C",
    body text NOT NULL,
    key text,
    hash bytea NOT NULL,
    erased boolean DEFAULT false NOT NULL
)
PARTITION BY LIST (month);
CREATE TABLE version_1.facts_202611 (
    month integer NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL,
    subject text COLLATE pg_catalog."C",
    body text NOT NULL,
    key text,
    hash bytea NOT NULL,
    erased boolean DEFAULT false NOT NULL
);
CREATE TABLE version_1.log_head (
    one boolean DEFAULT true NOT NULL,
    seq bigint NOT NULL,
    sessions bigint NOT NULL,
    turns bigint NOT NULL,
    chains bigint NOT NULL,
    CONSTRAINT log_head_one_check CHECK (one)
);
CREATE TABLE version_1.rewards (
    seq bigint NOT NULL,
    turn text COLLATE pg_catalog."C",
    session text COLLATE pg_catalog."C"
);
CREATE TABLE version_1.schema_version (
    version integer NOT NULL
);
CREATE TABLE version_1.sessions (
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL,
    client text,
    project text,
    project_from bigint,
    turns integer NOT NULL,
    started_at bigint NOT NULL,
    last_at bigint NOT NULL,
    ended_at bigint,
    erased boolean NOT NULL
);
CREATE TABLE version_1.turns (
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    start_seq bigint NOT NULL,
    end_seq bigint,
    erased boolean NOT NULL
);
CREATE TABLE version_1.unclean (
    relation text NOT NULL,
    times bigint NOT NULL
);
CREATE TABLE version_1.unfinished_move (
    source text NOT NULL
);
ALTER TABLE ONLY version_1.bodies ATTACH PARTITION version_1.bodies_202611 FOR VALUES IN (202611);
ALTER TABLE ONLY version_1.facts ATTACH PARTITION version_1.facts_202611 FOR VALUES IN (202611);
INSERT INTO version_1.block_uses VALUES
	('long-1', '371efebcbb67d88b68f124d653ea2ba8');
INSERT INTO version_1.blocks VALUES
	('371efebcbb67d88b68f124d653ea2ba8', 1, '\x81d338caa8f05eb43ee3e189899e7105', '\xedd6b10980400c05d055426a71001b47b0b416fd70c2911cb9b31071771177b0fa6548177e5e726978860e7a548476baba3558d341e7b4af493c36449525205e60a34c964f69e92bc50db59392b154f4ec712e306682fb400b68e47b2e68012da005b48016fcf727ebfd00');
INSERT INTO version_1.bodies_202611 VALUES
	(202611, 1, 0, '\x939c349b71a12b38bb837571aee587a4', '\x7b2277697265223a226f70656e61692d63686174222c2272657374223a7b226a736f6e223a7b226d6f64656c223a22636c65726b2d31227d7d2c226c69737473223a7b226d65737361676573223a7b22616464223a5b7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257726974652074686520696e766f69636520616d6f756e7473206f66204d617920696e746f207265706f72742e6d64227d7d5d7d7d7d'),
	(202611, 3, 0, '\x7ea3dba0a2dbd103e3535c22ed6327e1', '\x7b226d6f64656c223a22636c65726b2d31222c22636f6e74656e74223a5b7b2274797065223a2274657874222c2274657874223a22492077726f74652074686520616d6f756e74732e227d5d2c2273746f70223a22656e64222c227573616765223a7b22696e707574546f6b656e73223a3130302c226f7574707574546f6b656e73223a35307d7d'),
	(202611, 4, 0, '\xcfd467c6464f705d1c5138ee9fa3cc0f', '\x7b2277697265223a226f70656e61692d63686174222c2272657374223a7b226a736f6e223a7b226d6f64656c223a22636c65726b2d31227d7d2c226c69737473223a7b226d65737361676573223a7b22616464223a5b7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257726974652074686520696e766f69636520616d6f756e7473206f66204d617920696e746f207265706f72742e6d64227d7d2c7b226a736f6e223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a22492077726f74652074686520616d6f756e74732e227d7d2c7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a224e6f2e20416c77617973207075742074686520756e697420626568696e6420657665727920616d6f756e742c20737563682061732031322e3530204555522e227d7d5d7d7d7d'),
	(202611, 5, 0, '\xa30759576264fa8d662f3d7a21c5f08a', '\x7b226d6f64656c223a22636c65726b2d31222c22636f6e74656e74223a5b7b2274797065223a2274657874222c2274657874223a22492077726f74652074686520616d6f756e74732e227d5d2c2273746f70223a22656e64222c227573616765223a7b22696e707574546f6b656e73223a3130302c226f7574707574546f6b656e73223a35307d7d'),
	(202611, 6, 0, '\x33ede68c5ccc8a0a95d9a931fd807275', '\x7b2277697265223a226f70656e61692d63686174222c2272657374223a7b226a736f6e223a7b226d6f64656c223a22636c65726b2d31227d7d2c226c69737473223a7b226d65737361676573223a7b22616464223a5b7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257726974652074686520696e766f69636520616d6f756e7473206f66204a756e6520696e746f207265706f72742e6d64227d7d5d7d7d7d'),
	(202611, 7, 0, '\x90d55daa42a85e1e75704a9136ebcefb', '\x7b226d6f64656c223a22636c65726b2d31222c22636f6e74656e74223a5b7b2274797065223a2274657874222c2274657874223a22492077726f74652074686520616d6f756e74732e227d5d2c2273746f70223a22656e64222c227573616765223a7b22696e707574546f6b656e73223a3130302c226f7574707574546f6b656e73223a35307d7d'),
	(202611, 8, 0, '\x982447aadb8bc6d4b87161743806fecc', '\x7b2277697265223a226f70656e61692d63686174222c2272657374223a7b226a736f6e223a7b226d6f64656c223a22636c65726b2d31227d7d2c226c69737473223a7b226d65737361676573223a7b22616464223a5b7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257726974652074686520696e766f69636520616d6f756e7473206f66204a756e6520696e746f207265706f72742e6d64227d7d2c7b226a736f6e223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a22492077726f74652074686520616d6f756e74732e227d7d2c7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a224e6f2e20416c77617973207075742074686520756e697420626568696e6420657665727920616d6f756e742c20737563682061732031322e3530204555522e227d7d5d7d7d7d'),
	(202611, 9, 0, '\xc5a3bec4489c157a6dee36537e1650ad', '\x7b226d6f64656c223a22636c65726b2d31222c22636f6e74656e74223a5b7b2274797065223a2274657874222c2274657874223a22492077726f74652074686520616d6f756e74732e227d5d2c2273746f70223a22656e64222c227573616765223a7b22696e707574546f6b656e73223a3130302c226f7574707574546f6b656e73223a35307d7d'),
	(202611, 11, 0, '\x719a2e726a1e122407d36e886a81f29a', '\x7b2277697265223a226f70656e61692d63686174222c2272657374223a7b226a736f6e223a7b226d6f64656c223a22636c65726b2d31227d7d2c226c69737473223a7b226d65737361676573223a7b22616464223a5b7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257726974652074686520696e766f69636520616d6f756e7473206f66204a756c7920696e746f207265706f72742e6d64227d7d5d7d7d7d'),
	(202611, 12, 0, '\x410055f94fe6023a25bcf56981399800', '\x7b226d6f64656c223a22636c65726b2d31222c22636f6e74656e74223a5b7b2274797065223a2274657874222c2274657874223a22492077726f74652074686520616d6f756e74732e227d5d2c2273746f70223a22656e64222c227573616765223a7b22696e707574546f6b656e73223a3130302c226f7574707574546f6b656e73223a35307d7d'),
	(202611, 13, 0, '\xd5c536e7541a5883241ed0925157a1a6', '\x7b2277697265223a226f70656e61692d63686174222c2272657374223a7b226a736f6e223a7b226d6f64656c223a22636c65726b2d31227d7d2c226c69737473223a7b226d65737361676573223a7b22616464223a5b7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257726974652074686520696e766f69636520616d6f756e7473206f66204a756c7920696e746f207265706f72742e6d64227d7d2c7b226a736f6e223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a22492077726f74652074686520616d6f756e74732e227d7d2c7b226a736f6e223a7b22726f6c65223a2275736572222c22636f6e74656e74223a224e6f2e20416c77617973207075742074686520756e697420626568696e6420657665727920616d6f756e742c20737563682061732031322e3530204555522e227d7d5d7d7d7d'),
	(202611, 14, 0, '\x6ee602084f69d55c8163340b8b81eb21', '\x7b226d6f64656c223a22636c65726b2d31222c22636f6e74656e74223a5b7b2274797065223a2274657874222c2274657874223a22492077726f74652074686520616d6f756e74732e227d5d2c2273746f70223a22656e64222c227573616765223a7b22696e707574546f6b656e73223a3130302c226f7574707574546f6b656e73223a35307d7d'),
	(202611, 15, 0, '\x8991f1b5c70b6c27cb46fb258e9979e2', '\x7b2277697265223a226f70656e61692d63686174222c2272657374223a7b226a736f6e223a7b226d6f64656c223a22636c65726b2d31227d7d2c226c69737473223a7b226d65737361676573223a7b22616464223a5b223337316566656263626236376438386236386631323464363533656132626138225d7d7d7d'),
	(202611, 18, 0, '\x43c392212194897aa597edb79c46f887', '\x7b226d6f64656c223a22636c65726b2d31222c22636f6e74656e74223a5b7b2274797065223a2274657874222c2274657874223a22492077726f74652074686520616d6f756e74732e227d5d2c2273746f70223a22656e64222c227573616765223a7b22696e707574546f6b656e73223a3130302c226f7574707574546f6b656e73223a35307d7d');
INSERT INTO version_1.fact_keys VALUES
	('set:distiller-4d9eed9b3054572f1082b050', 23),
	('set:distiller-1678cbbafbf596a1d9bb1b9a', 29),
	('audit:1', 31);
INSERT INTO version_1.facts_202611 VALUES
	(202611, 1, 1794958091368, 'turn-start', NULL, '{"turn":"t_mwlbpb6q0003579f755d105a","session":"bills-May","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"request":"request:t_mwlbpb6q0003579f755d105a","caller":"k_93437f3fde"}', NULL, '\x3a2971cde6420bd82525944d3a866867', false),
	(202611, 2, 1794958091330, 'lessons-recalled', 'bills-May', '{"session":"bills-May","turn":"t_mwlbpb6q0003579f755d105a","thread":"main clerk-1","generation":0,"why":"new","first":"SI_-vegHZRPSW-i_F5Q3wf","lessons":[],"heldOut":[],"domain":{"name":"general","reason":"default"},"considered":[],"engine":"none"}', NULL, '\x5596a8c04d87e37c23e0bd25df7c0b8f', false),
	(202611, 3, 1794958091988, 'turn-end', NULL, '{"turn":"t_mwlbpb6q0003579f755d105a","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":573,"totalMs":755,"reply":"reply:t_mwlbpb6q0003579f755d105a"}', NULL, '\xff2d40d2af2f04ef134d1a9cc01c393a', false),
	(202611, 4, 1794958092185, 'turn-start', NULL, '{"turn":"t_mwlbpbwr00033672d5bd1b33","session":"bills-May","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"request":"request:t_mwlbpbwr00033672d5bd1b33","caller":"k_93437f3fde"}', NULL, '\x0e51da0eb7ba2af23bd09d03f1898fd1', false),
	(202611, 5, 1794958092297, 'turn-end', NULL, '{"turn":"t_mwlbpbwr00033672d5bd1b33","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":111,"totalMs":126,"reply":"reply:t_mwlbpbwr00033672d5bd1b33"}', NULL, '\x925e51c411ecf70b55b73182269df2d0', false),
	(202611, 6, 1794958092498, 'turn-start', NULL, '{"turn":"t_mwlbpc1p0000c13249400d01","session":"bills-June","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"request":"request:t_mwlbpc1p0000c13249400d01","caller":"k_93437f3fde"}', NULL, '\xa9cf51ed7f817e0603461a75587b323d', false),
	(202611, 7, 1794958092692, 'turn-end', NULL, '{"turn":"t_mwlbpc1p0000c13249400d01","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":191,"totalMs":343,"reply":"reply:t_mwlbpc1p0000c13249400d01"}', NULL, '\xcb95a9db1ced3a5baf58c47387cee99a', false),
	(202611, 8, 1794958092716, 'turn-start', NULL, '{"turn":"t_mwlbpcbv000624244a85c3a8","session":"bills-June","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"request":"request:t_mwlbpcbv000624244a85c3a8","caller":"k_93437f3fde"}', NULL, '\xe8b8c37ce760556d38e73c6c10515bac', false),
	(202611, 9, 1794958092787, 'turn-end', NULL, '{"turn":"t_mwlbpcbv000624244a85c3a8","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":70,"totalMs":72,"reply":"reply:t_mwlbpcbv000624244a85c3a8"}', NULL, '\x30ed8773c64d8bc50c3e398265113860', false),
	(202611, 10, 1794958092495, 'lessons-recalled', 'bills-June', '{"session":"bills-June","turn":"t_mwlbpc1p0000c13249400d01","thread":"main clerk-1","generation":0,"why":"new","first":"XNzqfU0WsbfJAW9mvpwCc1","lessons":[],"heldOut":[],"domain":{"name":"general","reason":"default"},"considered":[],"engine":"none"}', NULL, '\xa10cb3cea050c958deb1df880e1b05ce', false),
	(202611, 11, 1794958092912, 'turn-start', NULL, '{"turn":"t_mwlbpchb0003ca14fc49fa4d","session":"bills-July","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"request":"request:t_mwlbpchb0003ca14fc49fa4d","caller":"k_93437f3fde"}', NULL, '\xcfa19e46b9abbfa72e94bebc43670354', false),
	(202611, 12, 1794958093133, 'turn-end', NULL, '{"turn":"t_mwlbpchb0003ca14fc49fa4d","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":220,"totalMs":222,"reply":"reply:t_mwlbpchb0003ca14fc49fa4d"}', NULL, '\xf3720a29fcecdac4ad6a93735ccb4380', false),
	(202611, 13, 1794958093182, 'turn-start', NULL, '{"turn":"t_mwlbpcoq000c6c860c6cc44d","session":"bills-July","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"request":"request:t_mwlbpcoq000c6c860c6cc44d","caller":"k_93437f3fde"}', NULL, '\x2c784283698dfbe2af742bfc7a0f024c', false),
	(202611, 14, 1794958093238, 'turn-end', NULL, '{"turn":"t_mwlbpcoq000c6c860c6cc44d","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":56,"totalMs":60,"reply":"reply:t_mwlbpcoq000c6c860c6cc44d"}', NULL, '\xc91899732759e7fa063701826cb4fc5e', false),
	(202611, 15, 1794958093280, 'turn-start', NULL, '{"turn":"t_mwlbpcrj00097707dc9e6f3b","session":"long-1","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"request":"request:t_mwlbpcrj00097707dc9e6f3b","caller":"k_93437f3fde"}', NULL, '\x44627737ae19c0ea132126f0f28172b0', false),
	(202611, 16, 1794958092912, 'lessons-recalled', 'bills-July', '{"session":"bills-July","turn":"t_mwlbpchb0003ca14fc49fa4d","thread":"main clerk-1","generation":0,"why":"new","first":"bkq1Pjs9lrUnzNMiWVNsna","lessons":[],"heldOut":[],"domain":{"name":"general","reason":"default"},"considered":[],"engine":"none"}', NULL, '\x83099d9fc0c6bf9f9d14381284d0521a', false),
	(202611, 17, 1794958093280, 'lessons-recalled', 'long-1', '{"session":"long-1","turn":"t_mwlbpcrj00097707dc9e6f3b","thread":"main clerk-1","generation":0,"why":"new","first":"9TgMZOUECz7Bg0J2HOLaQc","lessons":[],"heldOut":[],"domain":{"name":"general","reason":"default"},"considered":[],"engine":"none"}', NULL, '\xcf5022eeab4fb11f2c5e901308bf92db', false),
	(202611, 18, 1794958093423, 'turn-end', NULL, '{"turn":"t_mwlbpcrj00097707dc9e6f3b","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":47,"totalMs":144,"reply":"reply:t_mwlbpcrj00097707dc9e6f3b"}', NULL, '\x0cea0d47d5cccb462deba28c8ece2ea3', false),
	(202611, 22, 1794958095529, 'turn-appraised', 'bills-May', '{"turn":"t_mwlbpb6q0003579f755d105a","session":"bills-May","scope":{"agent":"bookkeeper"},"generation":0,"verdict":"failure","reward":0,"source":"chat","signals":[{"name":"user-corrected","source":"chat","score":0,"weight":3,"reason":"the user corrected it"}],"digests":[]}', NULL, '\x6c8353b13f4e580fc3404f770925d4a9', false),
	(202611, 19, 1794958093524, 'turn-start', NULL, '{"turn":"t_mwlbpcya0003024d993f875c","session":"gone-1","agent":"bookkeeper","role":"main","wire":"openai-chat","model":"clerk-1","generation":0,"policy":"shop/clerk-1","lessons":[],"caller":"k_93437f3fde"}', NULL, '\x163ff624db4efed931e200eae69a54cd', true),
	(202611, 20, 1794958093583, 'turn-end', NULL, '{"turn":"t_mwlbpcya0003024d993f875c","status":"complete","httpStatus":200,"usage":{"inputTokens":100,"outputTokens":50},"stop":"end","firstByteMs":20,"totalMs":61}', NULL, '\xfaef8b79accffd1a9ec2692e7551b072', true),
	(202611, 23, 1794958103313, 'library-changed', NULL, '{"set":"distiller-4d9eed9b3054572f1082b050","by":{"kind":"learner","name":"distiller"},"reason":"distiller: unit-behind-amount-eur","changes":[{"op":"add","id":"lesson_mwlbpgiy0000ccf1f8810815","kind":"skill","state":"trial","text":{"name":"unit-behind-amount-eur","description":"\"Always put the unit behind every amount, such as 12.50 EUR.\"","content":"The user said:\n\n> No. Always put the unit behind every amount, such as 12.50 EUR.\n\nThe task was:\n\n> Write the invoice amounts of May into report.md","category":"general","scope":{"agent":"bookkeeper"},"note":{"context":"Write the invoice amounts of May into report.md","keywords":["amount","unit","behind","eur","task","write","invoice","report"],"tags":[],"importance":0.7,"confidence":1,"source":"experience","visibility":"scoped","halfLifeDays":60,"links":[],"triggers":["Write the invoice amounts of May into report.md"]},"evidence":{"turns":["t_mwlbpb6q0003579f755d105a"],"quotes":[],"learner":"distiller"},"taint":[]}}],"generation":1}', 'set:distiller-4d9eed9b3054572f1082b050', '\x5467a9dd775443916dbdc0bb8c14d282', false),
	(202611, 24, 1794958097833, 'turn-appraised', 'bills-June', '{"turn":"t_mwlbpc1p0000c13249400d01","session":"bills-June","scope":{"agent":"bookkeeper"},"generation":0,"verdict":"failure","reward":0,"source":"chat","signals":[{"name":"user-corrected","source":"chat","score":0,"weight":3,"reason":"the user corrected it"}],"digests":[]}', NULL, '\x00c36055bee2c492621ea1673fa116ee', false),
	(202611, 25, 1794958098578, 'turn-appraised', 'bills-July', '{"turn":"t_mwlbpchb0003ca14fc49fa4d","session":"bills-July","scope":{"agent":"bookkeeper"},"generation":0,"verdict":"failure","reward":0,"source":"chat","signals":[{"name":"user-corrected","source":"chat","score":0,"weight":3,"reason":"the user corrected it"}],"digests":[]}', NULL, '\x8fea79141bf3fc7d794cdb22615c93cf', false),
	(202611, 26, 1794958103789, 'cycle-end', NULL, '{"cycle":"4d9eed9b3054572f1082b050","learner":"distiller","outcome":"published","items":[],"turns":["t_mwlbpb6q0003579f755d105a"],"sessions":["bills-May"],"judgements":[{"lesson":"lesson_mwlbpgiy0000ccf1f8810815","name":"unit-behind-amount-eur","outcome":"trial","why":[]}],"set":"distiller-4d9eed9b3054572f1082b050","generation":1,"cost":{"calls":0,"inputTokens":0,"outputTokens":0,"usd":0},"tookMs":2068}', NULL, '\x0d4ecc8dda4258268c3f006a445bb2db', false),
	(202611, 27, 1794958103999, 'reward-given', 't_mwlbpcrj00097707dc9e6f3b', '{"turn":"t_mwlbpcrj00097707dc9e6f3b","source":"person","score":1,"note":"Good.","by":"owner_2021df390d"}', NULL, '\xc34fe6b7060241fde886512f124d3992', false),
	(202611, 28, 1794958104718, 'turn-appraised', 'long-1', '{"turn":"t_mwlbpcrj00097707dc9e6f3b","session":"long-1","scope":{"agent":"bookkeeper"},"generation":0,"verdict":"success","reward":1,"source":"person","signals":[{"name":"feedback","source":"person","score":1,"weight":1,"reason":"person gave 1"}],"digests":[]}', NULL, '\xd430427b84698018361426ebb14b0abf', false),
	(202611, 29, 1794958105808, 'library-changed', NULL, '{"set":"distiller-1678cbbafbf596a1d9bb1b9a","by":{"kind":"learner","name":"distiller"},"reason":"distiller: unit-behind-amount-eur","changes":[{"op":"revise","id":"lesson_mwlbpgiy0000ccf1f8810815","from":1,"text":{"name":"unit-behind-amount-eur","description":"\"Always put the unit behind every amount, such as 12.50 EUR.\"","content":"The user said, 3 times:\n\n> No. Always put the unit behind every amount, such as 12.50 EUR.\n\nThe task was:\n\n> Write the invoice amounts of July into report.md\n\n> Write the invoice amounts of June into report.md","category":"general","scope":{"agent":"bookkeeper"},"note":{"context":"Write the invoice amounts of July into report.md","keywords":["amount","unit","behind","eur","write","invoice","report","task","july","june"],"tags":[],"importance":0.7,"confidence":1,"source":"experience","visibility":"scoped","halfLifeDays":60,"links":[],"triggers":["Write the invoice amounts of July into report.md","Write the invoice amounts of June into report.md","Write the invoice amounts of May into report.md"]},"evidence":{"turns":["t_mwlbpchb0003ca14fc49fa4d","t_mwlbpc1p0000c13249400d01","t_mwlbpb6q0003579f755d105a"],"quotes":[],"learner":"distiller"},"taint":[]}}],"generation":2}', 'set:distiller-1678cbbafbf596a1d9bb1b9a', '\xcf3a4e5813004f84072f459ca8233380', false),
	(202611, 30, 1794958105965, 'cycle-end', NULL, '{"cycle":"1678cbbafbf596a1d9bb1b9a","learner":"distiller","outcome":"published","items":[],"turns":["t_mwlbpb6q0003579f755d105a","t_mwlbpchb0003ca14fc49fa4d","t_mwlbpc1p0000c13249400d01"],"sessions":["bills-June","bills-July"],"judgements":[{"lesson":"lesson_mwlbpgiy0000ccf1f8810815","name":"unit-behind-amount-eur","outcome":"trial","why":[]}],"set":"distiller-1678cbbafbf596a1d9bb1b9a","generation":2,"cost":{"calls":0,"inputTokens":0,"outputTokens":0,"usd":0},"tookMs":707}', NULL, '\x98a3d14bffb1938d40d4708bff8bc067', false),
	(202611, 31, 1794958106897, 'action-taken', 'audit', '{"n":1,"action":"sessions.erase","subject":"gone-1","key":"owner_2021df390d","previous":"","hash":"c4fe613997048a41626452bacaf4667063525bb0c728c783399dd914ac1de799"}', 'audit:1', '\xb79075ef007041470c0396a7f75f9b97', false),
	(202611, 21, 1794958093524, 'lessons-recalled', 'gone-1', '{"session":"gone-1","turn":"t_mwlbpcya0003024d993f875c","thread":"main clerk-1","generation":0,"why":"new","lessons":[],"heldOut":[],"domain":{"name":"general","reason":"default"},"considered":[],"engine":"none"}', NULL, '\x49c5c3a8ca8ad5a262316d3541647324', true),
	(202611, 32, 1794958106956, 'session-erased', 'gone-1', '{"session":"gone-1","turns":1,"reason":"asked for by a person"}', NULL, '\x8a0bc199eea171d235d0ea4bd493e6ad', false);
INSERT INTO version_1.log_head VALUES
	(true, 32, 5, 8, 0);
INSERT INTO version_1.rewards VALUES
	(27, 't_mwlbpcrj00097707dc9e6f3b', NULL);
INSERT INTO version_1.schema_version VALUES
	(1);
INSERT INTO version_1.sessions VALUES
	(1, 'bills-May', 'bookkeeper', NULL, NULL, NULL, 2, 1794958091368, 1794958092185, NULL, false),
	(2, 'bills-June', 'bookkeeper', NULL, NULL, NULL, 2, 1794958092498, 1794958092716, NULL, false),
	(3, 'bills-July', 'bookkeeper', NULL, NULL, NULL, 2, 1794958092912, 1794958093182, NULL, false),
	(4, 'long-1', 'bookkeeper', NULL, NULL, NULL, 1, 1794958093280, 1794958093280, NULL, false),
	(5, 'gone-1', 'bookkeeper', NULL, NULL, NULL, 1, 1794958093524, 1794958093524, NULL, true);
INSERT INTO version_1.turns VALUES
	(1, 't_mwlbpb6q0003579f755d105a', 'bills-May', 1, 3, false),
	(2, 't_mwlbpbwr00033672d5bd1b33', 'bills-May', 4, 5, false),
	(3, 't_mwlbpc1p0000c13249400d01', 'bills-June', 6, 7, false),
	(4, 't_mwlbpcbv000624244a85c3a8', 'bills-June', 8, 9, false),
	(5, 't_mwlbpchb0003ca14fc49fa4d', 'bills-July', 11, 12, false),
	(6, 't_mwlbpcoq000c6c860c6cc44d', 'bills-July', 13, 14, false),
	(7, 't_mwlbpcrj00097707dc9e6f3b', 'long-1', 15, 18, false),
	(8, 't_mwlbpcya0003024d993f875c', 'gone-1', 19, 20, true);
ALTER TABLE ONLY version_1.block_uses
    ADD CONSTRAINT block_uses_pkey PRIMARY KEY (session, hash);
ALTER TABLE ONLY version_1.blocks
    ADD CONSTRAINT blocks_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY version_1.bodies
    ADD CONSTRAINT bodies_pkey PRIMARY KEY (seq, month);
ALTER TABLE ONLY version_1.bodies_202611
    ADD CONSTRAINT bodies_202611_pkey PRIMARY KEY (seq, month);
ALTER TABLE ONLY version_1.chains
    ADD CONSTRAINT chains_pkey PRIMARY KEY (session);
ALTER TABLE ONLY version_1.fact_keys
    ADD CONSTRAINT fact_keys_pkey PRIMARY KEY (key);
ALTER TABLE ONLY version_1.facts
    ADD CONSTRAINT facts_pkey PRIMARY KEY (seq, month);
ALTER TABLE ONLY version_1.facts_202611
    ADD CONSTRAINT facts_202611_pkey PRIMARY KEY (seq, month);
ALTER TABLE ONLY version_1.log_head
    ADD CONSTRAINT log_head_pkey PRIMARY KEY (one);
ALTER TABLE ONLY version_1.rewards
    ADD CONSTRAINT rewards_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY version_1.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY version_1.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (id);
ALTER TABLE ONLY version_1.unclean
    ADD CONSTRAINT unclean_pkey PRIMARY KEY (relation);
ALTER TABLE ONLY version_1.unfinished_move
    ADD CONSTRAINT unfinished_move_pkey PRIMARY KEY (source);
CREATE INDEX block_uses_by_hash ON version_1.block_uses USING btree (hash);
CREATE INDEX chains_by_n ON version_1.chains USING btree (n);
CREATE INDEX facts_by_subject ON ONLY version_1.facts USING btree (subject) WHERE (subject IS NOT NULL);
CREATE INDEX facts_202611_subject_idx ON version_1.facts_202611 USING btree (subject) WHERE (subject IS NOT NULL);
CREATE INDEX facts_by_type ON ONLY version_1.facts USING btree (type, seq) WHERE (type = ANY (ARRAY['library-changed'::text, 'session-scored'::text, 'turn-appraised'::text, 'learning-queued'::text, 'cycle-end'::text, 'session-marked'::text, 'reward-given'::text, 'event-reported'::text]));
CREATE INDEX facts_202611_type_seq_idx ON version_1.facts_202611 USING btree (type, seq) WHERE (type = ANY (ARRAY['library-changed'::text, 'session-scored'::text, 'turn-appraised'::text, 'learning-queued'::text, 'cycle-end'::text, 'session-marked'::text, 'reward-given'::text, 'event-reported'::text]));
CREATE INDEX rewards_by_session ON version_1.rewards USING btree (session) WHERE (session IS NOT NULL);
CREATE INDEX rewards_by_turn ON version_1.rewards USING btree (turn) WHERE (turn IS NOT NULL);
CREATE INDEX sessions_by_last ON version_1.sessions USING btree (last_at, n);
CREATE INDEX turns_by_session ON version_1.turns USING btree (session, n);
CREATE INDEX turns_open ON version_1.turns USING btree (start_seq) WHERE (end_seq IS NULL);
ALTER INDEX version_1.bodies_pkey ATTACH PARTITION version_1.bodies_202611_pkey;
ALTER INDEX version_1.facts_pkey ATTACH PARTITION version_1.facts_202611_pkey;
ALTER INDEX version_1.facts_by_subject ATTACH PARTITION version_1.facts_202611_subject_idx;
ALTER INDEX version_1.facts_by_type ATTACH PARTITION version_1.facts_202611_type_seq_idx;
